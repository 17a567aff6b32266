#!/usr/bin/env bash
# Measures this project on an NVIDIA GPU and ends with a table for an issue: bash tests/gpu.sh [--minutes 20] [--out FOLDER]
# PYTHON names the interpreter; without it .venv or python3 is used. Nothing is installed or downloaded. --help: all options.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${PYTHON:-}
if [ -z "$python" ]; then
    python=python3
    if [ -x "$root/.venv/bin/python" ]; then python=$root/.venv/bin/python; fi
fi
if ! command -v "$python" >/dev/null; then
    echo "$python was not found. Name a Python that has PyTorch: PYTHON=/path/to/python bash tests/gpu.sh" >&2
    exit 2
fi
export PYTHONUNBUFFERED=1 PYTHONPATH="$root:$root/tests${PYTHONPATH:+:$PYTHONPATH}"
exec "$python" -m gpu "$@"
