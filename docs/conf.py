"""The settings of Sphinx for this site; `make docs` builds it.

Nothing is fetched from another host, neither while building nor by the built pages.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext")]

from tamis import __version__  # noqa: E402

project = "Tamis"
author = "The Tamis developers"
copyright = "The Tamis developers; Apache-2.0"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "command_line",
    "indented_code",
    "offline",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = True

# -- Markdown ----------------------------------------------------------------------------------
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# -- Docstrings --------------------------------------------------------------------------------
# Docstrings write code in single backticks.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "separated"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
# Types in signatures name classes of other projects and of internal modules, which have no page.
nitpick_ignore_regex = [("py:.*", r".*")]
suppress_warnings = ["ref.python"]

# -- HTML --------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "Tamis"
html_static_path = ["_static"]
html_css_files = ["tamis.css"]
html_favicon = "_static/tamis.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {
        "text": "Tamis",
        "image_light": "_static/tamis.svg",
        "image_dark": "_static/tamis.svg",
        "alt_text": "Tamis",
    },
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "getting-started": [], "glossary": [], "contributing": []}
