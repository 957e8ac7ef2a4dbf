//! Which crate may use which, and which libraries: arrows point downward only.
//!
//! The table is here and in `docs/ARCHITECTURE.md`; the packages must follow it and the two must agree.
//! If a crate turns out wrong, change it in all three places in one commit.

use std::fs;

use crate::{
    cargo::packages,
    source::{assert_none, root},
};

/// Every crate, below those that it may use: its directory, its name in code, and the names of those that it may use.
const CRATES: &[(&str, &str, &[&str])] = &[
    ("crates/money", "money", &[]),
    ("crates/meter-token", "meter-token", &[]),
    ("crates/sts", "sts", &["meter-token"]),
    ("crates/clock", "clock", &[]),
    ("crates/error-codes", "error-codes", &[]),
    ("crates/failpoint", "failpoint", &[]),
    ("crates/vend", "vend", &["money", "meter-token"]),
    ("crates/ledger", "ledger", &["money"]),
    ("crates/purchase", "purchase", &["vend", "money", "meter-token", "ledger"]),
    ("crates/provider", "provider", &["vend", "money", "meter-token"]),
    (
        "crates/purchase-memory",
        "purchase-memory",
        &["purchase", "provider", "vend", "ledger", "money", "meter-token"],
    ),
    ("crates/provider-http", "provider-http", &["provider", "vend"]),
    (
        "crates/provider-xmlvend",
        "provider-xmlvend",
        &["provider-http", "provider", "vend", "money", "meter-token"],
    ),
    (
        "crates/provider-reloadly",
        "provider-reloadly",
        &["provider-http", "provider", "vend", "money", "clock"],
    ),
    (
        "crates/provider-vtpass",
        "provider-vtpass",
        &["provider-http", "provider", "vend", "money", "meter-token"],
    ),
    (
        "crates/provider-registry",
        "provider-registry",
        &["provider-xmlvend", "provider-reloadly", "provider-vtpass", "provider", "clock"],
    ),
    ("crates/traces", "traces", &["clock"]),
    ("crates/transcript", "transcript", &["purchase", "vend", "money", "meter-token"]),
    ("crates/message-sim", "message-sim", &["clock"]),
    ("crates/utility-sim", "utility-sim", &["message-sim", "money", "meter-token", "sts", "clock"]),
    ("crates/webhook", "webhook", &[]),
    ("crates/certificate", "certificate", &["money"]),
    ("crates/database", "database", &[]),
    ("crates/directory", "directory", &["database"]),
    ("crates/feed", "feed", &["database", "purchase", "vend", "money"]),
    ("crates/catalogue", "catalogue", &["directory", "database", "purchase", "vend", "ledger", "money"]),
    (
        "crates/store",
        "store",
        &[
            "catalogue",
            "certificate",
            "directory",
            "database",
            "purchase",
            "vend",
            "ledger",
            "money",
            "meter-token",
            "failpoint",
        ],
    ),
    ("crates/webhook-store", "webhook-store", &["store", "feed", "database", "webhook", "purchase"]),
    (
        "crates/batch-store",
        "batch-store",
        &["store", "database", "purchase", "vend", "ledger", "money", "failpoint"],
    ),
    (
        "crates/oversight",
        "oversight",
        &["store", "catalogue", "directory", "database", "purchase", "vend", "money"],
    ),
    (
        "crates/reconciliation",
        "reconciliation",
        &["store", "catalogue", "directory", "database", "purchase", "vend", "money", "meter-token"],
    ),
    (
        "crates/back-office",
        "back-office",
        &[
            "reconciliation",
            "store",
            "catalogue",
            "directory",
            "database",
            "purchase",
            "vend",
            "ledger",
            "money",
        ],
    ),
    (
        "crates/vending",
        "vending",
        &[
            "store",
            "feed",
            "catalogue",
            "database",
            "provider",
            "traces",
            "transcript",
            "webhook-store",
            "webhook",
            "batch-store",
            "certificate",
            "purchase",
            "vend",
            "ledger",
            "money",
            "meter-token",
            "clock",
            "failpoint",
        ],
    ),
    ("crates/identity", "identity", &["directory", "database", "clock"]),
    ("crates/messages", "messages", &["error-codes"]),
    ("crates/receipt", "receipt", &["messages", "vend", "money", "meter-token"]),
    (
        "crates/notify",
        "notify",
        &["store", "database", "purchase", "messages", "meter-token", "failpoint", "clock"],
    ),
    (
        "crates/webhook-delivery",
        "webhook-delivery",
        &["webhook-store", "feed", "database", "webhook", "purchase", "failpoint", "clock"],
    ),
    (
        "crates/web",
        "web",
        &[
            "vending",
            "traces",
            "purchase",
            "vend",
            "ledger",
            "identity",
            "messages",
            "error-codes",
            "money",
            "clock",
        ],
    ),
    (
        "crates/http-v1",
        "http-v1",
        &[
            "web",
            "receipt",
            "vending",
            "feed",
            "identity",
            "webhook",
            "certificate",
            "purchase",
            "vend",
            "ledger",
            "error-codes",
            "money",
            "meter-token",
        ],
    ),
    (
        "crates/http-legacy",
        "http-legacy",
        &["web", "vending", "identity", "purchase", "vend", "ledger", "error-codes", "money", "meter-token"],
    ),
    (
        "crates/openapi-v1",
        "openapi-v1",
        &[
            "http-v1",
            "web",
            "receipt",
            "vending",
            "webhook",
            "certificate",
            "purchase",
            "vend",
            "error-codes",
            "money",
        ],
    ),
    ("crates/api-docs", "api-docs", &["openapi-v1", "http-v1", "web", "error-codes"]),
    ("crates/boot", "boot", &["clock"]),
    (
        "crates/operator-reports",
        "operator-reports",
        &[
            "boot",
            "back-office",
            "oversight",
            "reconciliation",
            "store",
            "catalogue",
            "directory",
            "database",
            "identity",
            "purchase",
            "vend",
            "ledger",
            "money",
            "meter-token",
            "clock",
        ],
    ),
    (
        "crates/statement-fetch",
        "statement-fetch",
        &["operator-reports", "boot", "provider-registry", "provider", "purchase", "vend", "clock"],
    ),
    (
        "crates/operator-commands",
        "operator-commands",
        &[
            "operator-reports",
            "statement-fetch",
            "back-office",
            "oversight",
            "reconciliation",
            "store",
            "catalogue",
            "directory",
            "database",
            "identity",
            "purchase",
            "vend",
            "ledger",
            "money",
            "meter-token",
            "clock",
        ],
    ),
    ("crates/local-postgres", "local-postgres", &[]),
    (
        "crates/test-kit",
        "test-kit",
        &[
            "utility-sim",
            "identity",
            "back-office",
            "store",
            "catalogue",
            "directory",
            "database",
            "provider",
            "local-postgres",
            "purchase",
            "ledger",
            "vend",
            "clock",
            "meter-token",
            "money",
        ],
    ),
    (
        "bins/api-server",
        "api-server",
        &[
            "boot",
            "http-v1",
            "openapi-v1",
            "http-legacy",
            "api-docs",
            "web",
            "identity",
            "vending",
            "traces",
            "provider-registry",
            "store",
            "database",
            "webhook",
            "purchase",
            "clock",
        ],
    ),
    (
        "bins/retry-worker",
        "retry-worker",
        &[
            "boot",
            "webhook-delivery",
            "webhook-store",
            "notify",
            "feed",
            "messages",
            "vending",
            "traces",
            "provider-registry",
            "back-office",
            "store",
            "database",
            "purchase",
            "clock",
        ],
    ),
    ("bins/utility-sim", "utility-sim-server", &["boot", "utility-sim", "clock"]),
    ("bins/vendctl", "vendctl", &["operator-commands"]),
    (
        "bins/console",
        "console",
        &["boot", "operator-commands", "messages", "identity", "store", "directory", "database", "clock"],
    ),
    (
        "bins/sandbox",
        "sandbox",
        &[
            "api-server",
            "retry-worker",
            "utility-sim-server",
            "console",
            "operator-commands",
            "local-postgres",
            "utility-sim",
            "identity",
            "back-office",
            "store",
            "catalogue",
            "database",
            "purchase",
            "ledger",
            "vend",
            "clock",
            "money",
        ],
    ),
    ("tests/rules", "workspace-rules", &[]),
    (
        "tests",
        "acceptance",
        &[
            "api-server",
            "retry-worker",
            "http-v1",
            "http-legacy",
            "error-codes",
            "operator-commands",
            "console",
            "sandbox",
            "local-postgres",
            "identity",
            "catalogue",
            "directory",
            "utility-sim",
            "transcript",
            "test-kit",
            "webhook",
            "certificate",
            "purchase",
            "ledger",
            "vend",
            "clock",
            "money",
            "failpoint",
        ],
    ),
    (
        "tests/bench",
        "bench",
        &[
            "api-server",
            "sandbox",
            "local-postgres",
            "store",
            "database",
            "utility-sim",
            "test-kit",
            "purchase",
            "ledger",
            "vend",
            "clock",
        ],
    ),
    ("tests/failover", "failover", &["acceptance", "sandbox", "local-postgres"]),
    (
        "tests/growth",
        "growth",
        &[
            "bench",
            "sandbox",
            "back-office",
            "oversight",
            "local-postgres",
            "store",
            "utility-sim",
            "ledger",
            "vend",
            "clock",
            "purchase",
        ],
    ),
    ("tests/restore", "restore-drill", &["acceptance", "sandbox", "operator-commands"]),
    ("tests/upgrade", "upgrade", &["acceptance", "sandbox"]),
];

/// Libraries with this prefix may be used by these packages only.
const FOREIGN: &[(&str, &[&str])] = &[
    (
        "diesel",
        &[
            "database",
            "directory",
            "catalogue",
            "feed",
            "store",
            "webhook-store",
            "batch-store",
            "oversight",
            "reconciliation",
            "back-office",
        ],
    ),
    ("tokio-postgres", &["database", "local-postgres", "bench", "failover", "growth"]),
    (
        "actix",
        &[
            "web",
            "http-v1",
            "openapi-v1",
            "http-legacy",
            "api-docs",
            "boot",
            "utility-sim",
            "api-server",
            "utility-sim-server",
            "console",
            "sandbox",
            "bench",
        ],
    ),
    ("config", &["boot"]),
    ("lettre", &["notify"]),
    ("oauth2", &["provider-reloadly"]),
    ("openidconnect", &["console"]),
    ("utoipa", &["http-v1", "openapi-v1", "api-docs"]),
    ("quick-xml", &["provider-xmlvend", "utility-sim", "http-v1"]),
];

/// The packages that other teams can take have a prefix of their own, because short names are taken in a registry.
pub const TAKEN_BY_OTHERS: &[&str] = &[
    "money",
    "meter-token",
    "sts",
    "vend",
    "ledger",
    "purchase",
    "provider",
    "provider-http",
    "purchase-memory",
];

/// What the tests of the crates share. It panics where other code returns an error, so nothing else is built with it, except
/// the benchmark, which is not shipped either.
const TEST_KIT: (&str, &[&str]) = ("test-kit", &["bench"]);

/// Crates of values and rules: no input or output, no clock, no randomness, no waiting, no wire format. A feature that the
/// workspace does not switch on may add one for other teams.
const PURE: &[&str] =
    &["money", "meter-token", "sts", "error-codes", "vend", "ledger", "purchase", "webhook"];

/// Prefixes of libraries that a pure crate must not use.
const IMPURE: &[&str] = &[
    "actix",
    "async",
    "diesel",
    "futures",
    "getrandom",
    "hyper",
    "rand",
    "reqwest",
    "serde",
    "tokio",
    "tracing",
    "clock",
];

#[test]
fn the_table_lists_every_package_and_no_other() {
    let mut packages: Vec<(String, String)> =
        packages().into_values().map(|package| (package.path, package.called)).collect();
    let mut table: Vec<(String, String)> =
        CRATES.iter().map(|(path, name, _)| ((*path).to_owned(), (*name).to_owned())).collect();
    packages.sort();
    table.sort();
    assert_eq!(packages, table);
}

#[test]
fn the_packages_that_others_take_have_names_of_their_own_and_use_no_other() {
    let mut broken = Vec::new();
    for package in packages().values() {
        let taken = TAKEN_BY_OTHERS.contains(&package.called.as_str());
        let expected = if taken { format!("vendgate-{}", package.called) } else { package.called.clone() };
        if package.name != expected {
            broken.push(format!("{} must be {expected}", package.name));
        }
    }
    for (_, name, may_use) in CRATES.iter().filter(|(_, name, _)| TAKEN_BY_OTHERS.contains(name)) {
        let others = may_use.iter().filter(|used| !TAKEN_BY_OTHERS.contains(used));
        broken.extend(others.map(|used| format!("{name} may use {used}, which others cannot take")));
    }
    assert_none(&broken, "docs/LIBRARIES.md describes these packages:");
}

#[test]
fn the_table_itself_points_downward_only() {
    let mut above: Vec<&str> = Vec::new();
    for (_, name, may_use) in CRATES {
        let upward: Vec<&&str> = may_use.iter().filter(|used| !above.contains(used)).collect();
        assert!(upward.is_empty(), "{name} may not use {upward:?}: they are not above it in the table");
        above.push(name);
    }
}

#[test]
fn no_crate_uses_another_against_the_table() {
    let packages = packages();
    let mut broken = Vec::new();
    for (_, name, may_use) in CRATES {
        let Some(package) = packages.get(*name) else { continue };
        let ours = package.can_be_built_with().filter(|used| packages.contains_key(*used));
        let forbidden = ours.filter(|used| !may_use.contains(&used.as_str()));
        broken.extend(forbidden.map(|used| format!("{name} uses {used}")));
    }
    assert_none(&broken, "These arrows are not in the table:");
}

#[test]
fn no_crate_uses_a_library_that_belongs_to_another() {
    let mut broken = Vec::new();
    for package in packages().values() {
        for (library, owners) in
            FOREIGN.iter().filter(|(_, owners)| !owners.contains(&package.called.as_str()))
        {
            let used = package.can_be_built_with().filter(|used| used.starts_with(library));
            broken.extend(
                used.map(|used| format!("{} uses {used}, which belongs to {owners:?}", package.name)),
            );
        }
    }
    assert_none(&broken, "These libraries belong to one crate:");
}

#[test]
fn only_tests_are_built_with_the_test_kit() {
    let (kit, tests) = TEST_KIT;
    let others = packages().into_values().filter(|package| !tests.contains(&package.name.as_str()));
    let built_with_it = others.filter(|package| package.can_be_built_with().any(|used| used == kit));
    let broken: Vec<String> = built_with_it.map(|package| package.name).collect();
    assert_none(&broken, "Make `test-kit` a dev-dependency of these:");
}

#[test]
fn the_crates_of_values_and_rules_stay_pure() {
    let mut broken = Vec::new();
    for package in packages().values().filter(|package| PURE.contains(&package.called.as_str())) {
        let impure = |used: &&String| IMPURE.iter().any(|library| used.starts_with(library));
        broken.extend(
            package.built_with.iter().filter(impure).map(|used| format!("{} uses {used}", package.name)),
        );
    }
    assert_none(&broken, "Time, randomness, waiting and wire formats stay outside these crates:");
}

#[test]
fn the_architecture_document_prints_the_same_table() {
    let document =
        fs::read_to_string(root().join("docs/ARCHITECTURE.md")).expect("docs/ARCHITECTURE.md is there");
    let printed = printed_rows(&document);
    let expected: Vec<(String, String)> =
        CRATES.iter().map(|(path, _, may_use)| ((*path).to_owned(), cell(may_use))).collect();
    let missing = expected.iter().filter(|row| !printed.contains(row));
    let missing: Vec<String> = missing.map(|(path, uses)| format!("| `{path}` | … | {uses} |")).collect();
    assert_none(&missing, "docs/ARCHITECTURE.md lacks these rows:");
    let surplus = printed.iter().filter(|row| !expected.contains(row));
    let surplus: Vec<String> = surplus.map(|(path, uses)| format!("| `{path}` | … | {uses} |")).collect();
    assert_none(&surplus, "docs/ARCHITECTURE.md has rows that are not in the table here:");
}

#[test]
fn a_printed_table_is_read_row_by_row_up_to_its_end() {
    let document = "# Crates\n\n| Crate | Holds | May use |\n|---|---|---|\n| `crates/a` | a | — |\n\
                    | `crates/b` | b, or c | a |\n\nAfterwards.\n\n| `crates/c` | no row of the table | a |\n";
    let rows = [("crates/a", "—"), ("crates/b", "a")].map(|(path, uses)| (path.to_owned(), uses.to_owned()));
    assert_eq!(printed_rows(document), rows);
}

/// The rows of the table with the header `| Crate | Holds | May use |`: each crate and its last cell.
fn printed_rows(document: &str) -> Vec<(String, String)> {
    let table = document.lines().skip_while(|line| line.trim() != "| Crate | Holds | May use |");
    let rows = table.skip(2).take_while(|line| line.starts_with('|'));
    rows.filter_map(|row| {
        let cells: Vec<&str> = row.trim().trim_matches('|').split('|').map(str::trim).collect();
        Some((cells.first()?.trim_matches('`').to_owned(), (*cells.last()?).to_owned()))
    })
    .collect()
}

fn cell(may_use: &[&str]) -> String {
    if may_use.is_empty() { "—".to_owned() } else { may_use.join(", ") }
}
