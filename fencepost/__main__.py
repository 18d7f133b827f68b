"""`python -m fencepost` is the command `fencepost`."""

from fencepost.cli import main

main()
