"""The command `prasanga`, where it is not on the path: `python -m prasanga`."""

from prasanga.cli import main

if __name__ == "__main__":
    main()
