"""What riff-tui promises, which tests show it, and how each promise is broken on purpose."""
