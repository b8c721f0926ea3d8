"""What every layer uses: words in messages, progress lines, child processes, optional packages."""
