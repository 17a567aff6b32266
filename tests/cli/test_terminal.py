"""Tables and progress, in a terminal and in a file."""

from __future__ import annotations

import io

from rich.console import Console

from csd.cli.terminal import make_console, make_table, print_line, show_progress


def test_output_that_is_not_a_terminal_is_wide_and_plain(capsys):
    console = make_console()
    assert console.width == 200
    print_line(console, "[bold]:smile: " + "x" * 300)
    assert capsys.readouterr().out == "[bold]:smile: " + "x" * 300 + "\n"
    make_console(to_stderr=True).print("a word")
    assert capsys.readouterr() == ("", "a word\n")


def test_a_table_is_bare_in_a_file_and_ruled_in_a_terminal():
    for forced in (False, True):
        console = Console(force_terminal=forced, width=80, record=True, file=io.StringIO())
        table = make_table(console, ("method", "tok/s", "text"), left=("text",))
        table.add_row("a", "1", "b")
        console.print(table)
        text = console.export_text()
        assert ("─" in text) is forced
        assert [column.justify for column in table.columns] == ["left", "right", "left"]


def test_progress_in_a_file_is_at_most_ten_lines(capsys):
    with show_progress(25) as advance:
        for number in range(25):
            advance(f"prompt {number}")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[-1] == "25 of 25 runs done; prompt 24"


def test_progress_over_nothing_prints_nothing(capsys):
    with show_progress(0):
        pass
    assert capsys.readouterr() == ("", "")
