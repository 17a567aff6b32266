"""A page as on a ZeroGPU Space, run by tests/web/test_zerogpu.py in a process of its own: the real package `spaces` over a
fake of the Hub's device API. On a machine without a GPU nothing can be moved to one, so these two steps are replaced.

Prints one line of JSON: what a race through the API answered, and what the device API was asked."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

ASKED: list[tuple[str, dict[str, list[str]]]] = []


class DeviceApi(BaseHTTPRequestHandler):
    def do_POST(self):
        address = urlparse(self.path)
        ASKED.append((address.path, parse_qs(address.query)))
        answer = {"idle": False, "nvidiaIndex": 0, "nvidiaUUID": "GPU-0", "allowToken": "allowed"}
        body = json.dumps(answer).encode() if address.path == "/schedule" else b"{}"
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


def main() -> None:
    api = ThreadingHTTPServer(("127.0.0.1", 0), DeviceApi)
    threading.Thread(target=api.serve_forever, daemon=True).start()
    os.environ |= {
        "SPACES_ZERO_GPU": "true",
        "SPACES_ZERO_DEVICE_API_URL": f"http://127.0.0.1:{api.server_address[1]}",
        "SPACES_ZERO_GPU_DEBUG": "",
    }
    import torch

    if torch.version.cuda is None:  # PyTorch for CPUs lacks what the emulation replaces
        torch.cuda.get_device_name = lambda *_: "a GPU"
        torch.version.cuda, torch._C._cuda_init, torch.cuda._is_in_bad_fork = "12.8", lambda: None, bool
    import spaces.zero
    from spaces.zero.torch import patching

    def move(callback=None):
        for fake, original in patching.cuda_aliases.items():
            fake.data = original

    spaces.zero.torch.pack = lambda: 0
    spaces.zero.torch.init = lambda uuid: None
    spaces.zero.torch.move = move

    import app

    parser = app.make_parser()
    studio = app.make_studio(parser, parser.parse_args(["--family", "embedded"]))
    placed = studio.families._load_family(studio.home.spec, "cuda", "auto", print)
    devices = {str(one.model.device) for one in placed.backends.values()}

    from gradio_client import Client

    from csd.web.page import build, launch_settings

    page = build(studio).queue(max_size=8)
    _, url, _ = page.launch(
        server_name="127.0.0.1", prevent_thread_lock=True, quiet=True, **launch_settings(studio.deployment)
    )
    studio.families.preload(0)
    client = Client(url, verbose=False, headers={"x-ip-token": "visitor.e30.sign"})
    methods = ["autoregressive", "adaptive cascade"]
    result = client.predict("Once upon a time there was a", methods, max_new=8, api_name="/race")
    try:
        client.predict("Once", methods, max_new=10_000, api_name="/race")
        refused = ""
    except Exception as error:
        refused = str(error)
    header = result["traces"][0]["header"]
    print(
        json.dumps(
            {
                "devices": sorted(devices),
                "texts": [lane["text"] for lane in result["summary"]],
                "device": header["device"],
                "cuda": torch.cuda.is_available(),
                "asked": ASKED,
                "refused": refused,
            }
        )
    )
    sys.stdout.flush()
    for worker in multiprocessing.active_children():
        worker.kill()
    os._exit(0)


if __name__ == "__main__":
    main()
