"""The command line, as `csd` or `python -m csd`."""

from csd.cli.app import app


def main() -> None:
    app()


if __name__ == "__main__":
    main()
