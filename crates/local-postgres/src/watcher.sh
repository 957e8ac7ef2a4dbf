# Prepares and runs one Postgres, and ends it together with the process that holds the other end of standard
# input.
#
#   sh watcher.sh <bin> <directory> <a setting of the server>...
#
# The first line on standard input says where the new cluster comes from:
#
#   copy         from the archive in the directory, which the owner has put there; if that fails, from initdb
#   initdb       from initdb
#   keep         from initdb, and it is archived in the directory, from where the owner takes it
#
# The owner may end at any moment, also by kill -9. The system then closes its end of the pipe. The script
# waits for nothing else. It ignores signals to a terminal or a service group.
# A server that ended before its owner is started again, on the same data, when the owner writes a line. If the line is `keep`, the
# data is archived instead.
trap '' HUP INT TERM
bin=$1 directory=$2
shift 2
exec 3<&0 </dev/null >>"$directory/log" 2>&1

wait_for_the_end_of_the_owner() { while read -r _ <&3; do :; done; }

# Repeated, because a server that has just started does not handle signals yet.
end_the_server() { while kill -QUIT "$server"; do sleep 0.1; done; }

# The process id distinguishes the lock file of this server from one that a killed server left behind.
serve() {
    "$bin/postgres" -D "$directory/data" "$@" &
    server=$!
    echo "$server" >"$directory/server.part" && mv "$directory/server.part" "$directory/server"
    { wait_for_the_end_of_the_owner; end_the_server; } &
    sentinel=$!
    wait "$server"
    kill -KILL "$sentinel"
    # Until it has ended, it may read a part of the owner's next line.
    wait "$sentinel"
    : >"$directory/ended"
}

from_the_archive() {
    tar --extract --file="$directory/cluster.tar" --directory="$directory" && rm -f "$directory/cluster.tar"
}

# Nothing is synced here: the cluster ends with its owner, so it need not survive a crash of the machine.
from_initdb() {
    rm -rf "$directory/data" "$directory/cluster.tar"
    "$bin/initdb" --pgdata="$directory/data" --username=postgres --pwfile="$directory/password" \
        --auth=scram-sha-256 --encoding=UTF8 --no-locale --no-sync --no-instructions
}

# Without `tar`, each cluster is made anew.
archive() {
    tar --create --file="$directory/cluster.part" --directory="$directory" data &&
        mv "$directory/cluster.part" "$directory/cluster.tar" || rm -f "$directory/cluster.part"
}

make_the_cluster() {
    read -r origin <&3 || return 1
    [ "$origin" = copy ] && from_the_archive && return
    from_initdb || return 1
    [ "$origin" != keep ] || archive
}

if make_the_cluster; then
    rm -f "$directory/password"
    serve "$@"
    while read -r line <&3; do
        if [ "$line" = keep ]; then archive; : >"$directory/ended"; else serve "$@"; fi
    done
else
    : >"$directory/ended"
fi
wait_for_the_end_of_the_owner
rm -rf "$directory"
