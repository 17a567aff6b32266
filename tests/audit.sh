#!/usr/bin/env bash
# Known vulnerabilities of the locked packages: bash tests/audit.sh. Needs pip-audit (PIP_AUDIT names it) and PyPI.
# Exit codes: 0 none found, or the source could not be reached, which is said; 1 some found.
set -euo pipefail
cd "$(dirname "$0")/.."
gradio=$(sed -n 's/^gradio==//p' requirements.txt)
if ! curl --fail --silent --max-time 20 "https://pypi.org/pypi/gradio/$gradio/json" | grep -q '"vulnerabilities"'; then
    echo "Not audited: PyPI's list of vulnerabilities, the source of pip-audit, cannot be reached from here." >&2
    exit 0
fi
exec "${PIP_AUDIT:-pip-audit}" --requirement requirements.lock --require-hashes --disable-pip --strict
