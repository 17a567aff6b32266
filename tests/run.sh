#!/usr/bin/env bash
# Makes .venv, installs what the project and its tests need, and runs all tests: bash tests/run.sh [pytest arguments]
# PYTHON names the interpreter for a new .venv, CHROMIUM the browser. What is there already is used as it is.
set -euo pipefail
cd "$(dirname "$0")/.."

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_use_apt() {
    command -v apt-get >/dev/null && { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }
}

apt_install() {
    as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null
}

find_python() {
    local name
    if ! command -v python3 >/dev/null && can_use_apt; then apt_install python3 python3-venv; fi
    for name in ${PYTHON:-} python3 python3.12 python3.11 python3.13 python3.10; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
    echo "No Python 3.10 or newer was found. Install one, or name it: PYTHON=/path/to/python bash tests/run.sh" >&2
    return 1
}

find_chromium() {
    local name
    for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable \
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" /Applications/Chromium.app/Contents/MacOS/Chromium; do
        if [ -n "$name" ] && command -v "$name" >/dev/null; then
            command -v "$name"
            return
        fi
    done
}

ask_playwright='
from pathlib import Path
from playwright.sync_api import sync_playwright
with sync_playwright() as driver:
    path = driver.chromium.executable_path
    print(path if Path(path).exists() else "")
'

if ! .venv/bin/python -c 'import pip' 2>/dev/null; then
    python=$(find_python)
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null && can_use_apt; then
        apt_install "python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv"
    fi
    "$python" -m venv --clear .venv
fi
.venv/bin/python -m pip install -q --disable-pip-version-check -r requirements.txt -r tests/requirements.txt

# The browser: the system's, else Debian's package, else the build that playwright brings.
CHROMIUM=$(find_chromium)
if [ -z "$CHROMIUM" ]; then
    if can_use_apt && grep -q '^ID=debian' /etc/os-release; then
        apt_install chromium || true
        CHROMIUM=$(find_chromium)
    else
        can_use_apt && deps=--with-deps || deps=
        .venv/bin/python -m playwright install $deps chromium >/dev/null || true
        CHROMIUM=$(.venv/bin/python -c "$ask_playwright" || true)
    fi
fi
if [ -z "$CHROMIUM" ]; then
    echo "Left out: the browser tests. There is no Chromium here and none could be installed; set CHROMIUM to one." >&2
    [ "${CI:-}" != true ] || exit 1
fi
export CHROMIUM

# Two threads suit these small models; nothing in the tests needs the network.
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-2}" HF_HUB_OFFLINE=1 GRADIO_ANALYTICS_ENABLED=False
.venv/bin/python -m pytest -q -rs tests "$@"
