#!/usr/bin/env bash
# Takes pictures of the page's main states, at three sizes, light and dark: bash tests/screenshots.sh FOLDER [--update]
# --update also writes the reference of tests/look/test_appearance.py. CHROMIUM names the browser.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" HF_HUB_OFFLINE=1 GRADIO_ANALYTICS_ENABLED=False
PYTHONPATH="$root:$root/tests" exec "$root/.venv/bin/python" -m look.screenshots "$@"
