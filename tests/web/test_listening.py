"""Where the page cannot listen, one sentence says why and what to do."""

from __future__ import annotations

import argparse
import errno
import os
import socket

import pytest

import app
from csd.web import listening
from csd.web.listening import COUNT, NAME, PORT, ports_to_try, why_not


@pytest.fixture
def taken():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        yield one.getsockname()[1]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_a_free_port_is_no_reason():
    port = free_port()
    assert why_not("127.0.0.1", (port,), {}) == "" == why_not("0.0.0.0", (port,), {NAME: "0.0.0.0"})
    assert why_not("localhost", (port,), {}) == ""


def test_a_port_in_use_is_one_unless_another_may_be_tried(taken):
    assert why_not("127.0.0.1", (taken,), {}).startswith(f"Port {taken} is in use. Stop")
    assert why_not("127.0.0.1", (taken, taken), {}).startswith(f"The ports from {taken} to {taken} are in use.")
    assert why_not("127.0.0.1", (taken, free_port()), {}) == ""


@pytest.mark.parametrize(("host", "said"), [("192.0.2.7", "'192.0.2.7' is no address of this machine."), ("[::2]", "")])
def test_an_address_of_another_machine_is_told_as_one(host, said):
    found = why_not(host, (free_port(), free_port()), {})
    assert said in found and "in use" not in found and "--host" in found


@pytest.mark.parametrize("host", ["a" * 300, "\udcff", "a..b"])
def test_a_name_that_cannot_be_looked_up_is_unknown(host, capsys):
    with pytest.raises(SystemExit) as ended:
        app.main(["--host", host])
    said = capsys.readouterr().err
    assert ended.value.code == 1 and said.startswith("No address is known for the name '") and len(said) < 200


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(errno.EACCES, "Permission denied"), "This user may not listen on port 80."),
        (socket.gaierror(socket.EAI_NONAME, "unknown"), "No address is known for the name 'here'."),
        (OSError(errno.EMFILE, "Too many open files"), "cannot listen on 'here', port 80: Too many open files."),
    ],
)
def test_every_other_reason_has_its_own_sentence(monkeypatch, error, said):
    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(listening.socket, "getaddrinfo", refuse)
    assert said in why_not("here", (80, 81), {NAME: "here"})


@pytest.mark.parametrize(
    ("port", "environment", "ports"),
    [
        (None, {}, range(7860, 7960)),
        (80, {}, (80,)),
        (None, {PORT: "9000", COUNT: "2"}, range(9000, 9002)),
        (None, {PORT: "65535"}, range(65535, 65536)),
    ],
)
def test_the_ports_are_those_that_gradio_tries(port, environment, ports):
    assert ports_to_try(port, environment) == ports


@pytest.mark.parametrize("name", [PORT, COUNT])
@pytest.mark.parametrize("text", ["abc", "", "0", "-1", "1.5", "65536", "9" * 5000])
@pytest.mark.parametrize("arguments", [[], ["--port", "7860"]])
def test_a_variable_that_is_no_port_is_a_sentence(monkeypatch, capsys, name, text, arguments):
    """Also beside an option, since Gradio reads it anyway."""
    monkeypatch.setitem(os.environ, name, text)
    with pytest.raises(SystemExit) as ended:
        app.main(arguments)
    said = capsys.readouterr().err
    assert ended.value.code == 2 and f"{name} must be a number from 1 to 65535, not" in said


@pytest.mark.parametrize("host", ["::1", "[::1]", "::", "2a00:1450::1"])
def test_an_address_of_ipv6_reaches_gradio_in_brackets(monkeypatch, host):
    """From the option, and from the variable, of which Gradio would take none."""
    monkeypatch.setenv(NAME, host)
    for arguments in (argparse.Namespace(host=host), argparse.Namespace(host=None)):
        app.name_host(arguments)
        assert arguments.host == f"[{host.strip('[]')}]"
        assert NAME not in os.environ
        monkeypatch.setenv(NAME, host)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])
def test_any_other_host_stays_as_it_is(monkeypatch, host):
    monkeypatch.setenv(NAME, host)
    app.name_host(arguments := argparse.Namespace(host=None))
    assert arguments.host == host == os.environ[NAME]


def test_an_option_that_is_no_port_is_a_sentence(capsys):
    for text in ("abc", "0", "70000"):
        with pytest.raises(SystemExit):
            app.main(["--port", text])
        assert f"A port must be a number from 1 to 65535, not '{text}'." in capsys.readouterr().err
