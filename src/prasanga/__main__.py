"""The command `prasanga`, where it is not on the path: `python -m prasanga`."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the working folder, which Python puts first

from prasanga.cli import main

if __name__ == "__main__":
    main()
