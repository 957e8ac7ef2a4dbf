#!/bin/sh
# A Postgres with the roles of INSTALL.md, under the published passwords of the playground.
set -eu
data=/var/lib/postgresql/playground
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH

if [ ! -e "$data/ready" ]; then
    rm -rf "$data"
    initdb --pgdata "$data" --auth-local peer --auth-host scram-sha-256 --encoding UTF8 --locale C.UTF-8 >/dev/null
    echo 'host all all all scram-sha-256' >>"$data/pg_hba.conf"
    pg_ctl --pgdata "$data" --wait --silent --options "-c listen_addresses=''" start
    psql --quiet --set ON_ERROR_STOP=1 postgres <<SQL
CREATE ROLE vendgate_api NOLOGIN;
CREATE ROLE vendgate_worker NOLOGIN IN ROLE vendgate_api;
CREATE ROLE vendgate_operator NOLOGIN IN ROLE vendgate_api;
CREATE ROLE vendgate_support NOLOGIN;
CREATE ROLE vendgate_finance NOLOGIN;
CREATE ROLE vendgate_administrator NOLOGIN;
CREATE ROLE vendgate_token_reader NOLOGIN;
CREATE ROLE vendgate_console NOLOGIN;
CREATE ROLE vendgate_owner LOGIN PASSWORD 'playground';
CREATE ROLE api_server LOGIN PASSWORD 'playground' IN ROLE vendgate_api;
CREATE ROLE retry_worker LOGIN PASSWORD 'playground' IN ROLE vendgate_worker;
CREATE ROLE naledi LOGIN PASSWORD 'playground' IN ROLE vendgate_operator;
CREATE DATABASE vendgate OWNER vendgate_owner;
REVOKE ALL ON DATABASE vendgate FROM PUBLIC;
GRANT CONNECT ON DATABASE vendgate TO vendgate_api, vendgate_worker,
    vendgate_support, vendgate_finance, vendgate_administrator, vendgate_console;
SQL
    pg_ctl --pgdata "$data" --wait --silent stop
    touch "$data/ready"
fi
exec postgres -D "$data" -c 'listen_addresses=*'
