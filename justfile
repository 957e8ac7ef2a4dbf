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

# What the money path can do on this machine.
bench *arguments:
    cargo run --release --locked -p acceptance --bin bench -- {{arguments}}

# Against real programs of other people: schemathesis on the OpenAPI document, Chromium on the documentation.
interop *arguments:
    scripts/interop {{arguments}}
