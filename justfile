# The recurring commands of this workspace. Without `just`, run the command below a recipe.

# Lists the recipes.
default:
    @just --list --unsorted

# All checks that a change must pass.
check:
    .ci/run

# Checks the formatting.
format:
    cargo fmt --all --check

# Runs Clippy. Warnings are errors.
lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Builds the API documentation of the crates and checks its links.
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# Runs all tests. They start their own Postgres.
test *arguments:
    cargo test {{arguments}}

# Runs only the tests of the workspace rules.
rules:
    cargo test --locked -p workspace-rules

# Checks the licences, sources and known vulnerabilities of the dependencies.
dependencies:
    scripts/dependencies

# Runs the whole system on loopback until Ctrl-C. `just sandbox --once` ends after the tour.
sandbox *arguments:
    cargo sandbox {{arguments}}

# Measures speed and memory beside their yardsticks: a quarter of an hour. `just bench --only a,http` measures parts,
# `just bench --write` writes the results into docs/PERFORMANCE.md.
bench *arguments:
    cargo run --release --locked -p bench -- {{arguments}}

# Fabricates a year of ten million purchases (some 25 GB of disk), and measures everything beside a short history.
# `just growth --purchases 400000` takes 1 GB and five minutes. `--write` writes the results into docs/PERFORMANCE.md.
growth *arguments:
    cargo run --release --locked -p growth -- {{arguments}}

# Measures the effect of floods of anonymous requests on memory, correct logins and the duration of confirms.
siege *arguments:
    cargo run --release --locked -p bench -- siege {{arguments}}

# The long attacks: every order of events, 120,000 simulated runs, killed and stopped servers, races, refused logins.
# `just sweep 5000` runs more crash rounds.
sweep rounds="1000":
    VENDGATE_SWEEP=1 cargo test --locked -p vendgate-purchase --test model --test simulation
    VENDGATE_SWEEP={{rounds}} cargo test --locked -p acceptance --test attacks -- --nocapture crashes:: races::
    VENDGATE_SWEEP={{rounds}} cargo test --locked -p acceptance --test journeys -- --nocapture login_timing::

# Searches for digits and keys that the crate `sts` handles wrongly, for a number of seconds.
fuzz seconds="60":
    scripts/fuzz {{seconds}}

# Measures how soon doubt ends after a server was killed. Checks that a confirm that a proxy held for up to a minute buys
# nothing. Both run with the default times of production.
doubt kills="500":
    VENDGATE_SWEEP={{kills}} cargo test --locked -p acceptance --test attacks -- --nocapture crashes::recovery:: crashes::held::

# Rehearses the loss of the database's primary with three servers under Patroni: about 20 minutes, as root, on Debian.
# `just failover --rounds 2 --only MachineLost,CutOff` runs some faults; docs/operations/CLUSTER.md lists what it shows.
failover *arguments:
    cargo run --locked -p failover -- {{arguments}}

# Rehearses an upgrade from the last release under load, and back: two minutes, and the build of that release.
upgrade *arguments:
    cargo run --locked -p upgrade -- {{arguments}}

# Destroys a database that sells, and restores it from its archive: to its end, and to a moment. One minute.
restore-drill *arguments:
    cargo run --locked -p restore-drill -- {{arguments}}

# Builds the Debian packages, the images with a playground and the Kubernetes manifests, and checks them: as root, on Debian.
# `just packages package` does one part: build, package, image or manifests. docs/operations/PACKAGES.md explains.
packages *parts:
    scripts/packages {{parts}}

# Packs the crates that other teams can take, and builds and tests them from the packed files (docs/LIBRARIES.md).
libraries:
    scripts/libraries

# Checks the tests: each planted bug must be found by its test.
planted *names:
    cargo run --locked --package workspace-rules --bin planted -- {{names}}

# Finds code that no test covers. Needs `cargo install cargo-mutants`.
mutants *arguments="-p vendgate-money -p vendgate-ledger -p vendgate-purchase":
    cargo mutants {{arguments}}

# Tests against independent programs: schemathesis with the OpenAPI document, Chromium with the documentation, Kannel
# and a mail server with the messages.
interop *arguments:
    scripts/interop {{arguments}}
