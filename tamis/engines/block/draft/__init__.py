"""From selectors to drafts: what is not in an immutable segment yet."""
