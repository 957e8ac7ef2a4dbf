//! The settings in the operator's documents exist and have the documented defaults.

use std::{fs, path::Path};

use api_server::facts;
use identity::{Environment, IdentitySettings};
use serde::Deserialize;

use vending::VendingSettings;
use web::WebSettings;

const LIMITS: &str = include_str!("../../../../docs/operations/LIMITS.md");
const TIMES: &str = include_str!("../../../../docs/operations/TIMES.md");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    web: Option<WebSettings>,
    identity: Option<IdentitySettings>,
    vending: Option<VendingSettings>,
}

#[test]
fn the_limits_on_the_page_are_those_that_hold_when_nothing_is_set() {
    let shown = shown(LIMITS, "limits.toml", 1, "").web.unwrap();
    assert_eq!(format!("{shown:?}"), format!("{:?}", WebSettings::default()));
}

#[test]
fn the_password_queue_on_the_page_is_the_one_that_holds_when_nothing_is_set() {
    let key = "a1".repeat(32);
    let what_has_no_default = format!("environment = \"STAGING\"\nrefresh_key = \"{key}\"\n");
    let shown = shown(LIMITS, "identity.toml", 2, &what_has_no_default).identity.unwrap();
    let defaults = IdentitySettings::new(Environment::Staging, key.into());
    assert_eq!(format!("{shown:?}"), format!("{defaults:?}"));
}

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/INTEGRATING.md");

/// The table of the guide for a server in which nothing is set.
fn facts_by_default() -> String {
    let identity = IdentitySettings::new(Environment::Staging, "a1".repeat(32).into());
    facts(&WebSettings::default(), &identity, &VendingSettings::default()).table()
}

#[test]
fn the_numbers_of_the_server_in_the_guide_are_those_that_hold_when_nothing_is_set() {
    let guide = fs::read_to_string(GUIDE).unwrap();
    let command = "run `cargo test -p api-server --test documented_settings -- --ignored write_the_numbers`";
    assert!(guide.contains(&facts_by_default()), "{command}");
}

#[test]
#[ignore = "writes docs/INTEGRATING.md"]
fn write_the_numbers_of_the_server() {
    let (guide, table) = (fs::read_to_string(GUIDE).unwrap(), facts_by_default());
    let (before, rest) = guide.split_once("| This server |").unwrap();
    let after = rest.split_once("\n\n").unwrap().1;
    fs::write(GUIDE, format!("{before}{table}\n{after}")).unwrap();
}

#[test]
fn the_times_on_the_page_are_those_that_hold_when_nothing_is_set() {
    let shown = shown(TIMES, "times.toml", 1, "").vending.unwrap();
    let default = format!("{:?}", VendingSettings::default());
    assert_eq!(format!("{shown:?}"), default);
    let named = TIMES.lines().filter(|line| line.contains("_ms = ")).count();
    assert_eq!(named, default.matches("_ms: ").count());
}

/// The settings of the page's code block with this number, followed by the lines of `more`.
fn shown(page: &str, file: &str, number: usize, more: &str) -> Shown {
    let block = page.split("```toml\n").nth(number).unwrap().split("```").next().unwrap();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    fs::write(&file, format!("{block}{more}")).unwrap();
    boot::load(Some(&file)).unwrap()
}
