"""Why an event matched or not, and the smallest change that would make it match."""
