# Everything that is done here more than once. Without `just`: each recipe is the command below it.

# Lists the recipes.
default:
    @just --list --unsorted

# Everything a change must pass.
check: format lint doc test

# Is everything formatted?
format:
    cargo fmt --all --check

# Clippy, where a warning is an error.
lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Do the documents build, with every link in them?
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# All tests; they bring their own Postgres.
test *arguments:
    cargo test {{arguments}}

# The rules of the house alone.
tidy:
    cargo test --locked -p acceptance --test tidy

# The whole system on loopback, until Ctrl-C. `just sandbox --once` ends after the tour.
sandbox *arguments:
    cargo sandbox {{arguments}}

# What the money path and the worker can do on this machine.
bench *arguments:
    cargo run --release --locked -p acceptance --bin bench -- {{arguments}}

# What floods of anonymous requests take from the others: memory, correct logins, and how long a confirm takes.
siege *arguments:
    cargo run --release --locked -p acceptance --bin bench -- siege {{arguments}}

# The long attacks: every order of events, 120,000 towns, real servers that are killed and stopped, races.
# `just sweep 5000` crashes more.
sweep rounds="1000":
    VENDGATE_SWEEP=1 cargo test --locked -p purchase --test model --test simulation
    VENDGATE_SWEEP={{rounds}} cargo test --locked -p acceptance --test crashes --test races -- --nocapture

# How soon doubt ends after a server was killed, and that a confirm which a proxy held for up to a minute buys nothing: at the
# default timing of production.
doubt kills="500":
    VENDGATE_SWEEP={{kills}} cargo test --locked -p acceptance --test crashes -- --nocapture recovery:: held::

# Who checks the checks: each planted bug must be found by its test.
planted *names:
    scripts/planted/run {{names}}

# What no test would miss, by `cargo install cargo-mutants`.
mutants *arguments="-p money -p ledger -p purchase":
    cargo mutants {{arguments}}

# Against real programs of other people: schemathesis on the OpenAPI document, Chromium on the documentation, Kannel and a
# mail server for the messages.
interop *arguments:
    scripts/interop {{arguments}}
