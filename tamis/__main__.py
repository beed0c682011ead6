"""`python -m tamis`: the command line, for when its script is not on the PATH."""

from tamis.cli import main

if __name__ == "__main__":
    main()
