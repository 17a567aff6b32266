#!/usr/bin/env bash
# Lint, formatting and types: bash tests/lint.sh
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh

.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/basedpyright --pythonpath .venv/bin/python
