"""Drafts: selectors that are not in an immutable segment yet."""
