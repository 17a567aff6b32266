#!/usr/bin/env bash
# Creates .venv, installs what the project and its tests need, and runs the tests: bash tests/run.sh [pytest arguments]
# Without arguments it leaves out those marked slow; --all runs them too.
# PYTHON names the interpreter for a new .venv, CHROMIUM the browser. Whatever is already there is used as it is.
set -euo pipefail
if [ $# = 0 ]; then
    set -- -m "not slow"
elif [ "$1" = --all ]; then
    shift
fi
cd "$(dirname "$0")/.."
. tests/setup.sh

find_chromium() {
    local name
    for name in "${CHROMIUM:-}" chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable \
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

# The browser: the system's, else Debian's package, else the build that playwright brings. The headless shell comes first: it
# opens a page with less work.
CHROMIUM=$(find_chromium)
if [ -z "$CHROMIUM" ]; then
    if can_use_apt && grep -q '^ID=debian' /etc/os-release; then
        apt_install chromium-headless-shell || apt_install chromium || true
        CHROMIUM=$(find_chromium)
    else
        can_use_apt && deps=--with-deps || deps=
        .venv/bin/python -m playwright install $deps chromium >/dev/null || true
        CHROMIUM=$(.venv/bin/python -c "$ask_playwright" || true)
    fi
fi
if [ -z "$CHROMIUM" ]; then
    echo "Skipping the browser tests: Chromium was not found and could not be installed. Set CHROMIUM to its path." >&2
    [ "${CI:-}" != true ] || exit 1
fi
export CHROMIUM

# Several processes, each with one thread and its own models, one more than cores: browsers and pages are often waited for.
# Files stay together, since they share what is loaded, and begin in the order of conftest.py: xdist's own would leave files of
# few tests, which are the longest ones, to the end. Nothing in the tests needs the network.
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" HF_HUB_OFFLINE=1 GRADIO_ANALYTICS_ENABLED=False
processes=$(.venv/bin/python -c 'import os; print(min(4, (os.cpu_count() or 1) + 1))')
.venv/bin/python -m pytest -q -rfEs -n "$processes" --dist loadfile --no-loadscope-reorder tests "$@"
