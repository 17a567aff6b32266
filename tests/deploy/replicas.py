"""Two replicas behind HAProxy in a real browser, one of them killed: `python tests/deploy/replicas.py`.

Needs haproxy and Chromium. Prints what a visitor sees.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from browser import STORY, free_port, set_field  # noqa: E402
from playwright.sync_api import Page, sync_playwright  # noqa: E402

PATIENCE = 240_000  # milliseconds


def start_replica(port: int) -> subprocess.Popen:
    quiet = {**os.environ, "GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "app.py", "--family", "embedded", "--port", str(port)]
    return subprocess.Popen(command, cwd=ROOT, env=quiet, stdout=subprocess.DEVNULL)


def start_proxy(port: int, replicas: list[int]) -> subprocess.Popen:
    addresses = {f"CSD_REPLICA_{number}": f"127.0.0.1:{one}" for number, one in enumerate(replicas, 1)}
    program = shutil.which("haproxy") or "/usr/sbin/haproxy"
    file = str(ROOT / "docs" / "deploy" / "haproxy.cfg")
    return subprocess.Popen([program, "-f", file], env={**os.environ, **addresses, "CSD_PROXY": f"127.0.0.1:{port}"})


def wait_for(url: str) -> None:
    end = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < end:
        try:
            return urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            time.sleep(0.5)
    raise SystemExit(f"{url} did not answer")


def replica_of(page: Page) -> str:
    return next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "csd_replica")


def race(page: Page, tokens: int) -> None:
    page.wait_for_selector('#family-status [data-state="ready"]', timeout=PATIENCE)
    page.fill("#prompt textarea", STORY)
    set_field(page, "#max-new input", tokens)
    page.click("#race")


def end_of(page: Page) -> str:
    return page.wait_for_selector('#status p[data-state="ended"]', timeout=PATIENCE).inner_text()


def main() -> None:
    proxy_port, *ports = free_port(), free_port(), free_port()
    replicas = {f"replica-{number}": start_replica(port) for number, port in enumerate(ports, 1)}
    proxy = start_proxy(proxy_port, ports)
    url = f"http://127.0.0.1:{proxy_port}/"
    try:
        for port in ports:
            wait_for(f"http://127.0.0.1:{port}/health/ready")
        wait_for(url)
        with sync_playwright() as driver:
            path = os.environ.get("CHROMIUM") or shutil.which("chromium")
            browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
            pages = [browser.new_context().new_page() for _ in range(2)]
            for page in pages:
                page.goto(url, timeout=PATIENCE)
                race(page, 16)
                print(f"{replica_of(page)}: {end_of(page)}", flush=True)
            lost, kept = pages
            begun = [race(page, 900) for page in pages] and time.monotonic()
            lost.wait_for_selector('#status p:has-text("Racing")', timeout=PATIENCE)
            victim = replica_of(lost)
            replicas[victim].kill()
            print(f"{victim} is killed in mid-race, after {time.monotonic() - begun:.1f} s", flush=True)
            time.sleep(8)
            said = lost.locator("#status p, .toast-body").all_inner_texts()
            print(f"its visitor sees: {said}; prompt: {lost.input_value('#prompt textarea')!r}", flush=True)
            lost.screenshot(path=os.environ.get("SHOT", "/dev/null"), type="png")
            print(f"the other one, {replica_of(kept)}: {end_of(kept)}", flush=True)
            lost.reload(timeout=PATIENCE)
            race(lost, 16)
            print(f"after a reload, {replica_of(lost)}: {end_of(lost)}", flush=True)
            browser.close()
    finally:
        for process in (*replicas.values(), proxy):
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
