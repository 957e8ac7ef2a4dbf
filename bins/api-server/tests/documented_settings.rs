//! The settings that the operator's pages show are the ones that there are, with the values that they have.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use vending::VendingSettings;
use web::WebSettings;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Limits {
    web: WebSettings,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Times {
    vending: VendingSettings,
}

#[test]
fn the_limits_on_the_page_are_those_that_hold_when_nothing_is_set() {
    let page = include_str!("../../../docs/operations/LIMITS.md");
    let shown: Limits = boot::load(Some(&settings_of(page, "limits.toml"))).unwrap();
    assert_eq!(format!("{:?}", shown.web), format!("{:?}", WebSettings::default()));
}

#[test]
fn the_times_on_the_page_are_those_that_hold_when_nothing_is_set() {
    let page = include_str!("../../../docs/operations/TIMES.md");
    let shown: Times = boot::load(Some(&settings_of(page, "times.toml"))).unwrap();
    let default = format!("{:?}", VendingSettings::default());
    assert_eq!(format!("{:?}", shown.vending), default);
    let named = page.lines().filter(|line| line.contains("_ms = ")).count();
    assert_eq!(named, default.matches("_ms: ").count());
}

/// The first block of settings on a page, as a file.
fn settings_of(page: &str, name: &str) -> PathBuf {
    let (_, block) = page.split_once("```toml\n").unwrap();
    let (shown, _) = block.split_once("```").unwrap();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, shown).unwrap();
    file
}
