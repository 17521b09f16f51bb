# Sourced by the scripts here: a virtual environment of the project's own, with what it needs.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

find_python() {
  for p in python3.13 python3.12 python3.11 python3; do
    if command -v "$p" >/dev/null 2>&1 && "$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$p"
      return
    fi
  done
  echo "Tidemark needs Python 3.11 or newer" >&2
  exit 3
}

make_environment() { # $1: extras
  local python stamp
  python=$(find_python)
  if [ ! -x .venv/bin/python ] || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    rm -rf .venv
    if ! "$python" -m venv .venv >/dev/null 2>&1; then
      if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null
        "$python" -m venv .venv
      else
        echo "python's venv module is missing: install the package python3-venv" >&2
        exit 3
      fi
    fi
  fi
  stamp=".venv/.installed-$(echo "$1" | tr ',' '-')"
  if [ ! -f "$stamp" ] || [ pyproject.toml -nt "$stamp" ]; then
    echo "installing into .venv: tidemark[$1]"
    .venv/bin/python -m pip install -q --disable-pip-version-check -e ".[$1]"
    touch "$stamp"
  fi
  export PATH="$root/.venv/bin:$PATH"
}
