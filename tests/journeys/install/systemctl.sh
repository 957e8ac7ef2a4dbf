#!/bin/sh
# The part of systemctl that the installation needs: it starts services as their units say. UNITS and RUN are directories.
set -eu

start() {
    unit=$UNITS/${1%%@*}@.service instance=${1##*@}
    said() { sed -n "s/^$1=//p" "$unit" | sed "s/%i/$instance/g"; }
    credential=$(said LoadCredential)
    command=$(said ExecStart | sed "s#%d/${credential%%:*}#${credential#*:}#")
    (
        set -a
        . "$(said EnvironmentFile)"
        for variable in $(said Environment); do export "$variable"; done
        exec $command > "$RUN/$1.log" 2>&1
    ) &
    echo $! > "$RUN/$1.pid"
}

alive() { kill -0 "$1" 2> /dev/null && ! grep -q '^State:.Z' "/proc/$1/status"; }

stop() {
    pid=$(cat "$RUN/$1.pid")
    kill -TERM "$pid"
    while alive "$pid"; do sleep 0.05; done
}

case "$1 ${2-}" in
"daemon-reload ") ;;
"enable --now")
    shift 2
    for name; do [ "$name" = vendgate.target ] || start "$name"; done
    ;;
"restart vendgate.target")
    for running in "$RUN"/*.pid; do
        name=$(basename "$running" .pid)
        stop "$name"
        start "$name"
    done
    ;;
*)
    echo "systemctl $*: the installation uses an unsupported command" >&2
    exit 1
    ;;
esac
