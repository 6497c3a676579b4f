#!/usr/bin/env bash
# Sets up .venv from requirements.lock, which is hashed and names no index: it works behind any mirror.
# Quick when nothing changed; several at once wait for each other. `setup.sh lock` writes requirements.lock anew.
# `setup.sh azurite` fetches Azurite into .setup/azurite: a server of Azure's, for tests.
# `setup.sh plateau` sets up .setup/plateau, where tests of Kartothek datasets have plateau: it needs older packages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly STAMP=.venv/lakebed-stamp
readonly AZURITE=.setup/azurite AZURITE_VERSION=3.37.0
readonly PLATEAU=.setup/plateau PLATEAU_LOCK=tests/kartothek/plateau/requirements
export UV_COMPILE_BYTECODE=1      # once here, instead of in every first start of a command
export UV_PYTHON_DOWNLOADS=never # the machine's Python, or a clear word about it

say() { printf 'setup: %s\n' "$*" >&2; }
fail() {
    say "$*"
    exit 1
}

main() {
    if [[ "${1:-}" == lock ]]; then
        write_lock
    elif [[ "${1:-}" == plateau ]]; then
        install_plateau
    elif [[ "${1:-}" == azurite ]]; then
        install_azurite
    elif ! is_current; then
        one_at_a_time
        is_current || install # another one may have done it while we waited
    fi
}

is_current() {
    [[ -f $STAMP ]] && [[ "$(cat "$STAMP")" == "$(fingerprint)" ]] && .venv/bin/python -c '' 2>/dev/null
}

fingerprint() { cat requirements.lock pyproject.toml | cksum; }

one_at_a_time() {
    mkdir -p .setup
    command -v flock >/dev/null || return 0
    exec 9>.setup/lock
    flock --nonblock 9 || {
        say "waiting for another set-up"
        flock 9
    }
}

install() {
    local python uv began=$SECONDS
    python=$(find_python)
    uv=$(find_uv "$python")
    follow_pip_configuration "$python"
    rm -f "$STAMP"
    if ! .venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        say "1/3 making .venv with $("$python" --version)"
        "$uv" venv --quiet --clear --python "$python" .venv
    fi
    say "2/3 installing $(grep -c == requirements.lock) locked packages (the first time about 800 MB are fetched)"
    "$uv" pip sync --python .venv/bin/python --require-hashes requirements.lock
    say "3/3 installing lakebed"
    # The build backend from the lock where it is there; otherwise uv fetches it.
    local isolation=()
    if .venv/bin/python -c 'import hatchling, editables' 2>/dev/null; then isolation=(--no-build-isolation); fi
    "$uv" pip install --quiet --python .venv/bin/python --no-deps "${isolation[@]}" --editable .
    .venv/bin/python -m compileall -q src/lakebed # uv compiles what it copies, and this it links
    fingerprint >"$STAMP"
    say "done in $((SECONDS - began)) s"
}

has_plateau() { [[ -f $PLATEAU/stamp ]] && cksum <$PLATEAU_LOCK.lock | cmp -s - $PLATEAU/stamp; }

install_plateau() {
    local python uv
    if has_plateau; then return; fi
    one_at_a_time
    if has_plateau; then return; fi
    python=$(find_python)
    uv=$(find_uv "$python")
    follow_pip_configuration "$python"
    say "installing plateau into $PLATEAU"
    "$uv" venv --quiet --clear --python "$python" $PLATEAU
    "$uv" pip sync --quiet --python $PLATEAU/bin/python --require-hashes $PLATEAU_LOCK.lock
    cksum <$PLATEAU_LOCK.lock >$PLATEAU/stamp
}

has_azurite() { [[ -f $AZURITE/stamp ]] && [[ "$(cat $AZURITE/stamp)" == "$AZURITE_VERSION" ]]; }

install_azurite() {
    if has_azurite; then return; fi
    one_at_a_time
    if has_azurite; then return; fi # another one has installed it while we waited
    command -v npm >/dev/null || fail "Azurite needs Node.js with npm. Install it (Debian 12: apt-get install nodejs npm)."
    say "installing Azurite into $AZURITE"
    mkdir -p $AZURITE
    npm install --prefix $AZURITE --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error \
        --fetch-retries=5 "azurite@$AZURITE_VERSION" >&2
    echo "$AZURITE_VERSION" >$AZURITE/stamp
}

find_python() {
    local candidate
    for candidate in "${PYTHON:-}" python3.11 python3.12 python3.13 python3; do
        if [[ -n $candidate ]] && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            "$candidate" -c 'import sys; print(sys.executable)'
            return
        fi
    done
    fail "Lakebed needs Python 3.11 or newer, and python3 is $(python3 --version 2>/dev/null || echo missing)." \
        "Install it (Debian 12: apt-get install python3.11 python3.11-venv) or name one: PYTHON=/path/to/python3.11 make …"
}

# The machine's uv, or our own in .setup.
find_uv() {
    local python=$1
    if command -v uv; then return; fi
    if ! .setup/uv/bin/uv --version >/dev/null 2>&1; then
        say "0/3 fetching uv, the installer"
        have_venv "$python"
        rm -rf .setup/uv
        "$python" -m venv .setup/uv >&2
        .setup/uv/bin/python -m pip install --quiet --disable-pip-version-check uv >&2
    fi
    echo .setup/uv/bin/uv
}

have_venv() {
    local python=$1 package
    package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    if "$python" -c 'import venv, ensurepip' 2>/dev/null; then return; fi
    bash scripts/system-packages.sh "$package" >&2 || fail "$python has no venv module. Install it with: apt-get install $package"
}

# uv does not read pip's configuration, and on a machine behind a mirror that is often all there is.
follow_pip_configuration() {
    local python=$1 key value
    if [[ -x .setup/uv/bin/python ]]; then python=.setup/uv/bin/python; fi
    while IFS='=' read -r key value; do
        value=${value//\'/}
        value=${value//\\n/ }
        case ${key##*.} in
        index-url) export UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX:-$value} ;;
        extra-index-url) export UV_INDEX=${UV_INDEX:-$value} ;;
        find-links) [[ ! -d $value ]] || export UV_FIND_LINKS=${UV_FIND_LINKS:-$value} ;;
        trusted-host) export UV_INSECURE_HOST=${UV_INSECURE_HOST:-$value} ;;
        cert) export SSL_CERT_FILE=${SSL_CERT_FILE:-$value} ;;
        esac
    done < <("$python" -m pip config list 2>/dev/null || true)
}

write_lock() {
    local python uv
    one_at_a_time
    python=$(find_python)
    uv=$(find_uv "$python")
    follow_pip_configuration "$python"
    "$uv" pip compile pyproject.toml --all-extras --group dev --universal --generate-hashes --no-header --no-annotate -q \
        -o requirements.lock
    "$uv" pip compile $PLATEAU_LOCK.in --universal --generate-hashes --no-header --no-annotate -q --python-version 3.11 \
        -o $PLATEAU_LOCK.lock
}

main "$@"
