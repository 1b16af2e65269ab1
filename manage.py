#!/usr/bin/env python
"""The command line of a clone."""

from chatsite.command_line import main

if __name__ == "__main__":
    main()
