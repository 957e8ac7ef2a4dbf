# shellcheck shell=bash
# What the parts of scripts/packages share. Each runs in the root of the workspace.
place=$PWD/target/packages
programs=${CARGO_TARGET_DIR:-$PWD/target}/release
checked=0
failed=0

fail() {
    printf 'packages: %s\n' "$1" >&2
    exit 1
}

# install_for <what for> <Debian package>...
install_for() {
    local purpose=$1
    shift
    [ "${VENDGATE_INSTALL:-}" != never ] || fail "no $purpose, and VENDGATE_INSTALL=never: install $*"
    [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || fail "no $purpose: install $*"
    printf 'packages: no %s here, so apt-get installs %s\n' "$purpose" "$*"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >"$place/apt.log" 2>&1 ||
        { tail -n 20 "$place/apt.log" >&2; fail "apt-get could not install $*"; }
}

# has <program>...: also finds those that only root has in its path.
has() {
    local name
    for name; do
        PATH=$PATH:/usr/sbin:/sbin command -v "$name" >/dev/null || return 1
    done
}

# check <what must be true> <command>...: one line for each check, with the output of a command that fails.
check() {
    local what=$1 output
    shift
    checked=$((checked + 1))
    if output=$("$@" 2>&1); then
        printf '  ok      %s\n' "$what"
    else
        failed=$((failed + 1))
        printf '  FAILED  %s\n' "$what"
        [ -z "$output" ] || sed 's/^/          /' <<<"$output" | head -n 12
    fi
}

# The opposite of a command, for `check`.
refused() {
    ! "$@"
}

conclude() {
    printf '%d checks, %d failed\n' "$checked" "$failed"
    [ "$failed" -eq 0 ] || fail "$failed of $checked checks of $1 failed: each line FAILED above names one"
}

# package_file <name>: the newest package of that name that was built.
package_file() {
    local file
    file=$(cat "$place/$1.path" 2>/dev/null) && [ -f "$file" ] ||
        fail "there is no package $1 yet: run scripts/packages build"
    printf '%s\n' "$file"
}

# A Debian root with the smallest set of packages, made once. The result is $place/root.tar.
prepare_root() {
    [ "$(id -u)" -eq 0 ] || fail 'only root can make a Debian root: run this as root'
    [ ! -f "$place/root.tar" ] || return 0
    has debootstrap || install_for 'debootstrap' debootstrap
    printf 'packages: debootstrap makes a Debian 12 root\n'
    rm -rf "$place/new-root"
    debootstrap --variant=minbase --include=ca-certificates,adduser bookworm "$place/new-root" \
        "${VENDGATE_DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$place/debootstrap.log" 2>&1 ||
        { tail -n 5 "$place/debootstrap.log" >&2; fail 'debootstrap failed: its log is target/packages/debootstrap.log'; }
    tar --create --file "$place/root.tar.part" --directory "$place/new-root" --exclude './proc/*' --exclude './sys/*' \
        --exclude './dev/*' --exclude './var/cache/apt/*' --exclude './var/lib/apt/lists/*' --exclude './usr/share/doc/*' \
        --exclude './usr/share/man/*' --exclude './usr/share/locale/*' .
    rm -rf "$place/new-root"
    mv "$place/root.tar.part" "$place/root.tar"
}
