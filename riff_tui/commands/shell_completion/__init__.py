"""Complete command lines in bash, zsh and fish: the shell asks riff-tui for each word, which says what fits."""
