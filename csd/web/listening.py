"""Whether the page can listen where it is told to, and if not, why: Gradio says the same of every reason."""

from __future__ import annotations

import errno
import socket
from collections.abc import Mapping, Sequence

from csd.ranges import quote

PORT, COUNT, NODE_COUNT = "GRADIO_SERVER_PORT", "GRADIO_NUM_PORTS", "GRADIO_NODE_NUM_PORTS"
HIGHEST = 65535
USUAL = {PORT: 7860, COUNT: 100, NODE_COUNT: 100}  # Gradio's; it reads them as it is imported, with a traceback
NAME, LOCAL = "GRADIO_SERVER_NAME", "127.0.0.1"


def read_port(text: str, whose: str = "A port") -> int:
    """Raises ValueError with a sentence."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and 1 <= int(text) <= HIGHEST):
        raise ValueError(f"{whose} must be a number from 1 to {HIGHEST}, not {quote(text)}.")
    return int(text)


def bracketed(host: str) -> str:
    """The host as it stands in an address, which is how Gradio takes one of IPv6."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def ports_to_try(port: int | None, environment: Mapping[str, str]) -> Sequence[int]:
    """Those that Gradio tries, in their order. Raises ValueError with a sentence."""
    first, count, _ = (read_port(environment.get(name, str(usual)), name) for name, usual in USUAL.items())
    return (port,) if port else range(first, min(first + count, HIGHEST + 1))


def why_not(host: str, ports: Sequence[int], environment: Mapping[str, str]) -> str:
    """A sentence if none of the ports can be listened on; empty otherwise. Gradio tries its usual address as well."""
    hosts = tuple(dict.fromkeys((environment.get(NAME) or LOCAL, host)))
    for port in ports:
        faults = [(one, error) for one in hosts if (error := _fault(one.strip("[]"), port))]
        if not faults:
            return ""
        for one, error in faults:
            if error.errno != errno.EADDRINUSE:
                return _sentence(one, port, error)
    taken = f"Port {ports[0]} is" if len(ports) == 1 else f"The ports from {ports[0]} to {ports[-1]} are"
    what = "the program that uses it" if len(ports) == 1 else "a program that uses one of them"
    return f"{taken} in use. Stop {what}, or choose another one with --port."


def _fault(host: str, port: int) -> OSError | None:
    """What uvicorn would find."""
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with socket.socket(family, kind, protocol) as one:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                one.bind(address)
    except OSError as error:
        return error
    except UnicodeError as error:  # a name that is too long, or of no characters, is not even looked up
        return socket.gaierror(socket.EAI_NONAME, str(error))
    return None


def _sentence(host: str, port: int, error: OSError) -> str:
    named = quote(host)
    if isinstance(error, PermissionError):
        return f"This user may not listen on port {port}. Choose one from 1024 with --port, or ask for the right to."
    if isinstance(error, socket.gaierror):
        return f"No address is known for the name {named}. Give --host a name or an address of this machine."
    if error.errno == errno.EADDRNOTAVAIL:
        return (
            f"{named} is no address of this machine. Give --host one of its own: {LOCAL} for this machine only, "
            "0.0.0.0 for all that reach it."
        )
    return f"The page cannot listen on {named}, port {port}: {error.strerror or error}. Change --host or --port."
