//! The settings that the operator's pages show are the ones that there are, with the values that they have.

use std::fs;

use serde::Deserialize;

use web::WebSettings;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    web: WebSettings,
}

#[test]
fn the_limits_on_the_page_are_those_that_hold_when_nothing_is_set() {
    let page = include_str!("../../../docs/operations/LIMITS.md");
    let (_, block) = page.split_once("```toml\n").unwrap();
    let (shown, _) = block.split_once("```").unwrap();
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("limits.toml");
    fs::write(&file, shown).unwrap();
    let shown: Shown = boot::load(Some(&file)).unwrap();
    assert_eq!(format!("{:?}", shown.web), format!("{:?}", WebSettings::default()));
}
