"""What several verbs share: options, tables, progress, output."""
