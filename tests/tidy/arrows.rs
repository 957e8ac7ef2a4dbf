//! Which room may use which, and which libraries: arrows point downward only.
//!
//! The table stands here and in `docs/ARCHITECTURE.md`; the packages must keep to it and the two must agree.
//! If a room turns out wrong, redraw it in all three places in one commit.

use std::fs;

use crate::{
    cargo::packages,
    house::{assert_none, root},
};

/// Every room, below those that it may use: where it lies, its package, and the packages that it may use.
const ROOMS: &[(&str, &str, &[&str])] = &[
    ("crates/money", "money", &[]),
    ("crates/meter-token", "meter-token", &[]),
    ("crates/sts", "sts", &[]),
    ("crates/clock", "clock", &[]),
    ("crates/error-codes", "error-codes", &[]),
    ("crates/failpoint", "failpoint", &[]),
    ("crates/vend", "vend", &["money", "meter-token"]),
    ("crates/ledger", "ledger", &["money"]),
    ("crates/purchase", "purchase", &["vend", "money", "meter-token", "ledger"]),
    ("crates/provider", "provider", &["vend", "money", "meter-token"]),
    ("crates/provider-http", "provider-http", &["provider", "vend"]),
    (
        "crates/provider-xmlvend",
        "provider-xmlvend",
        &["provider-http", "provider", "vend", "money", "meter-token", "clock"],
    ),
    (
        "crates/provider-reloadly",
        "provider-reloadly",
        &["provider-http", "provider", "vend", "money", "clock"],
    ),
    ("crates/connections", "connections", &["provider-xmlvend", "provider-reloadly", "provider", "clock"]),
    ("crates/transcript", "transcript", &["purchase", "vend", "money", "meter-token"]),
    ("crates/utility-sim", "utility-sim", &["money", "meter-token", "sts", "clock"]),
    ("crates/store", "store", &["purchase", "vend", "ledger", "money", "meter-token", "failpoint"]),
    (
        "crates/vending",
        "vending",
        &[
            "store",
            "provider",
            "transcript",
            "purchase",
            "vend",
            "ledger",
            "money",
            "meter-token",
            "clock",
            "failpoint",
        ],
    ),
    ("crates/identity", "identity", &["store", "clock"]),
    ("crates/messages", "messages", &["error-codes"]),
    ("crates/notify", "notify", &["store", "purchase", "messages", "meter-token", "failpoint"]),
    (
        "crates/web",
        "web",
        &["vending", "purchase", "vend", "ledger", "identity", "messages", "error-codes", "money", "clock"],
    ),
    (
        "crates/http-v1",
        "http-v1",
        &["web", "vending", "identity", "purchase", "vend", "ledger", "error-codes", "money", "meter-token"],
    ),
    (
        "crates/http-current",
        "http-current",
        &["web", "vending", "identity", "purchase", "vend", "ledger", "error-codes", "money", "meter-token"],
    ),
    ("crates/handbook", "handbook", &["http-v1", "web", "error-codes"]),
    ("crates/boot", "boot", &["clock"]),
    ("crates/local-postgres", "local-postgres", &[]),
    (
        "bins/api-server",
        "api-server",
        &[
            "boot",
            "http-v1",
            "http-current",
            "handbook",
            "web",
            "identity",
            "vending",
            "connections",
            "store",
            "purchase",
            "clock",
        ],
    ),
    (
        "bins/retry-worker",
        "retry-worker",
        &["boot", "notify", "messages", "vending", "connections", "store", "purchase", "clock"],
    ),
    ("bins/utility-sim", "utility-sim-server", &["boot", "utility-sim", "clock"]),
    (
        "bins/vendctl",
        "vendctl",
        &["boot", "store", "identity", "purchase", "vend", "ledger", "money", "meter-token", "clock"],
    ),
    (
        "bins/sandbox",
        "sandbox",
        &[
            "api-server",
            "retry-worker",
            "utility-sim-server",
            "local-postgres",
            "utility-sim",
            "identity",
            "store",
            "purchase",
            "ledger",
            "vend",
            "clock",
            "money",
        ],
    ),
    (
        "tests",
        "acceptance",
        &[
            "api-server",
            "retry-worker",
            "http-v1",
            "http-current",
            "error-codes",
            "vendctl",
            "sandbox",
            "local-postgres",
            "identity",
            "store",
            "utility-sim",
            "transcript",
            "purchase",
            "ledger",
            "vend",
            "clock",
            "meter-token",
            "money",
            "failpoint",
        ],
    ),
];

/// Libraries whose names begin so may be used by these packages only.
const FOREIGN: &[(&str, &[&str])] = &[
    ("diesel", &["store"]),
    ("tokio-postgres", &["store"]),
    (
        "actix",
        &[
            "web",
            "http-v1",
            "http-current",
            "handbook",
            "boot",
            "utility-sim",
            "api-server",
            "utility-sim-server",
            "sandbox",
        ],
    ),
    ("config", &["boot"]),
    ("lettre", &["notify"]),
    ("oauth2", &["provider-reloadly"]),
    ("utoipa", &["http-v1", "handbook"]),
    ("quick-xml", &["provider-xmlvend", "utility-sim"]),
];

/// Rooms of values and rules: no input or output, no clock, no chance, no waiting, no wire format.
const PURE: &[&str] = &["money", "meter-token", "sts", "error-codes", "vend", "ledger", "purchase"];

/// What a pure room would need to be impure: names of libraries begin so.
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
fn every_package_is_a_room_of_the_table_and_every_room_is_a_package() {
    let mut packages: Vec<(String, String)> =
        packages().into_values().map(|package| (package.lies_in, package.name)).collect();
    let mut table: Vec<(String, String)> =
        ROOMS.iter().map(|(path, name, _)| ((*path).to_owned(), (*name).to_owned())).collect();
    packages.sort();
    table.sort();
    assert_eq!(packages, table);
}

#[test]
fn the_table_itself_points_downward_only() {
    let mut above: Vec<&str> = Vec::new();
    for (_, name, may_use) in ROOMS {
        let upward: Vec<&&str> = may_use.iter().filter(|used| !above.contains(used)).collect();
        assert!(upward.is_empty(), "{name} may not use {upward:?}: they do not stand above it in the table");
        above.push(name);
    }
}

#[test]
fn no_room_uses_another_against_the_table() {
    let packages = packages();
    let mut broken = Vec::new();
    for (_, name, may_use) in ROOMS {
        let Some(package) = packages.get(*name) else { continue };
        let ours = package.built_with.iter().filter(|used| packages.contains_key(*used));
        let forbidden = ours.filter(|used| !may_use.contains(&used.as_str()));
        broken.extend(forbidden.map(|used| format!("{name} uses {used}")));
    }
    assert_none(&broken, "These arrows are not in the table:");
}

#[test]
fn no_room_uses_a_library_that_belongs_to_another() {
    let mut broken = Vec::new();
    for package in packages().values() {
        for (library, rooms) in FOREIGN.iter().filter(|(_, rooms)| !rooms.contains(&package.name.as_str())) {
            let used = package.built_with.iter().filter(|used| used.starts_with(library));
            broken
                .extend(used.map(|used| format!("{} uses {used}, which belongs to {rooms:?}", package.name)));
        }
    }
    assert_none(&broken, "These libraries have a room of their own:");
}

#[test]
fn the_rooms_of_values_and_rules_stay_pure() {
    let mut broken = Vec::new();
    for package in packages().values().filter(|package| PURE.contains(&package.name.as_str())) {
        let impure = |used: &&String| IMPURE.iter().any(|library| used.starts_with(library));
        broken.extend(
            package.built_with.iter().filter(impure).map(|used| format!("{} uses {used}", package.name)),
        );
    }
    assert_none(&broken, "Time, chance, waiting and wire formats stay outside these rooms:");
}

#[test]
fn the_architecture_document_prints_the_same_table() {
    let document =
        fs::read_to_string(root().join("docs/ARCHITECTURE.md")).expect("docs/ARCHITECTURE.md is there");
    let printed = printed_rows(&document);
    let expected: Vec<(String, String)> =
        ROOMS.iter().map(|(path, _, may_use)| ((*path).to_owned(), cell(may_use))).collect();
    let missing = expected.iter().filter(|row| !printed.contains(row));
    let missing: Vec<String> = missing.map(|(room, uses)| format!("| `{room}` | … | {uses} |")).collect();
    assert_none(&missing, "docs/ARCHITECTURE.md lacks these rows:");
    let surplus = printed.iter().filter(|row| !expected.contains(row));
    let surplus: Vec<String> = surplus.map(|(room, uses)| format!("| `{room}` | … | {uses} |")).collect();
    assert_none(&surplus, "docs/ARCHITECTURE.md has rows that the table here has not:");
}

#[test]
fn a_printed_table_is_read_row_by_row_up_to_its_end() {
    let document = "# Rooms\n\n| Room | Holds | May use |\n|---|---|---|\n| `crates/a` | a | — |\n\
                    | `crates/b` | b, or c | a |\n\nAfterwards.\n\n| `crates/c` | no row of the table | a |\n";
    let rows = [("crates/a", "—"), ("crates/b", "a")].map(|(room, uses)| (room.to_owned(), uses.to_owned()));
    assert_eq!(printed_rows(document), rows);
}

/// The rows of the table with the header `| Room | Holds | May use |`: each room and its last cell.
fn printed_rows(document: &str) -> Vec<(String, String)> {
    let table = document.lines().skip_while(|line| line.trim() != "| Room | Holds | May use |");
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
