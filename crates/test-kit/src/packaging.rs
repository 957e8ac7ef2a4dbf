//! The settings files of `packaging/`, filled in as an operator does it.

use std::{fs, path::Path};

const PACKAGING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging");

const PACKAGE: &str = "settings/vendgate.toml";
const PLAYGROUND: &str = "playground/vendgate.toml";
const SECRET: &str = "kubernetes/example/secrets.yaml";

/// The settings that an operator has to complete, as they are shipped: the name of the file, and its text.
///
/// # Panics
/// If a file is gone.
pub fn shipped_settings() -> Vec<(&'static str, String)> {
    vec![(PACKAGE, read(PACKAGE)), (SECRET, of_the_secret(&read(SECRET)))]
}

/// The settings of each package, completed with keys and passwords: the name of the file, and its text.
///
/// # Panics
/// If a file is gone.
pub fn completed_settings() -> Vec<(&'static str, String)> {
    vec![
        (PACKAGE, with_keys(&uncommented(&read(PACKAGE)))),
        (PLAYGROUND, read(PLAYGROUND)),
        (SECRET, with_keys(&of_the_secret(&read(SECRET)))),
    ]
}

/// The file in which every setting that is commented out is set.
pub fn uncommented(text: &str) -> String {
    let lines = text.lines().map(|line| match line.strip_prefix("# ") {
        Some(setting) if is_setting(setting) => setting,
        Some(_) | None => line,
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(PACKAGING).join(file)).expect("the file is there")
}

fn is_setting(line: &str) -> bool {
    let name = line.split(" = ").next().unwrap_or_default();
    line.starts_with('[') || line.contains(" = ") && !name.contains(' ')
}

fn with_keys(text: &str) -> String {
    let with_keys = text.replace("key = \"\"", &format!("key = \"{}\"", "a1".repeat(32)));
    with_keys.replace("CHANGE-ME", "replaced")
}

/// The lines below `vendgate.toml: |`, without their indentation.
fn of_the_secret(manifest: &str) -> String {
    let (_before, text) = manifest.split_once("  vendgate.toml: |\n").expect("the Secret has the settings");
    let lines = text.lines().take_while(|line| line.is_empty() || line.starts_with("    "));
    lines.flat_map(|line| [line.trim_start(), "\n"]).collect()
}
