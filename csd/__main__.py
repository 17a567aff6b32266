"""Entry point of `python -m csd` and of the `csd` command."""

from csd.cli.commands import app


def main() -> None:
    app(prog_name="csd")


if __name__ == "__main__":
    app(prog_name="python -m csd")
