#!/usr/bin/env bash
# Measures the page on this machine: first paint, layout shifts, frames, exported files: bash tests/measure.sh [--only NAME]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" HF_HUB_OFFLINE=1 GRADIO_ANALYTICS_ENABLED=False
PYTHONPATH="$root:$root/tests" exec "$root/.venv/bin/python" -m look.measure "$@"
