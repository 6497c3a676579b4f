#!/usr/bin/env bash
# Installs what the system must provide and does not, where we may; otherwise says exactly what to install.
#   system-packages.sh tests       what the tests need
#   system-packages.sh PACKAGE…    these Debian packages
set -euo pipefail

readonly NO_CLUSTER=/etc/postgresql-common/createcluster.d/lakebed-setup.conf

main() {
    local missing=()
    if [[ "${1:-tests}" == tests ]]; then
        has_postgresql || missing+=(postgresql)
        [[ -x /usr/sbin/pgbouncer ]] || command -v pgbouncer >/dev/null || missing+=(pgbouncer)
        command -v npm >/dev/null || missing+=(nodejs npm) # for Azurite
        # One line for each further need: has_chromium || missing+=(chromium)
    else
        missing=("$@")
    fi
    [[ ${#missing[@]} -eq 0 ]] || install "${missing[@]}"
}

# A server, not just a client: the tests make clusters of their own.
has_postgresql() {
    local folder
    for folder in "$(dirname "$(command -v initdb || echo /)")" "$(pg_config --bindir 2>/dev/null || true)" \
        /usr/lib/postgresql/*/bin; do
        if [[ -x $folder/initdb && -x $folder/postgres ]]; then return 0; fi
    done
    return 1
}

install() {
    local as_root=()
    command -v apt-get >/dev/null || refuse "There is no apt-get here. Install by other means: $*"
    if [[ $EUID -ne 0 ]]; then
        sudo -n true 2>/dev/null || refuse "Missing: $*. Install with: sudo apt-get install -y --no-install-recommends $*"
        as_root=(sudo -n)
    fi
    echo "setup: installing from the system's packages: $*" >&2
    if [[ " $* " == *" postgresql "* ]]; then
        # shellcheck disable=SC2064  # as_root is local: expand it now
        trap "leave_clusters_alone ${as_root[*]}" EXIT
        make_no_cluster "${as_root[@]}"
    fi
    "${as_root[@]}" apt-get -q update
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
    # Debian starts a pooler for the whole machine when it installs one.
    if [[ " $* " == *" pgbouncer "* && -d /run/systemd/system ]]; then
        "${as_root[@]}" systemctl disable --quiet --now pgbouncer
    fi
}

# Debian makes and starts a cluster for the whole machine when it installs PostgreSQL, unless told not to.
make_no_cluster() {
    "$@" mkdir -p "$(dirname "$NO_CLUSTER")"
    echo 'create_main_cluster = false' | "$@" tee "$NO_CLUSTER" >/dev/null
}

leave_clusters_alone() { "$@" rm -f "$NO_CLUSTER"; }

refuse() {
    echo "setup: $*" >&2
    exit 1
}

main "$@"
