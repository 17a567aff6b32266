"""`python -m csd`: the command line."""

from csd.cli.commands import app

if __name__ == "__main__":
    app(prog_name="python -m csd")
