//! The packages of the workspace as cargo knows them.

use std::{collections::BTreeMap, process::Command};

use serde_json::Value;

use crate::source::root;

/// A package as cargo knows it.
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its directory, from the root.
    pub path: String,
    /// The packages that it needs to be built.
    pub built_with: Vec<String>,
    /// The packages that its tests need besides.
    pub tested_with: Vec<String>,
    /// Its library and its programs.
    pub targets: Vec<Target>,
}

/// A library or a program.
pub struct Target {
    /// Its first file, from the root.
    pub file: String,
    /// Whether it is a library.
    pub is_library: bool,
    /// Whether `cargo test` runs the tests in its code.
    pub is_tested: bool,
    /// Whether `cargo test` runs the examples in its documentation.
    pub has_examples_run: bool,
}

/// The packages of the workspace by name.
pub fn packages() -> BTreeMap<String, Package> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo runs: it runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    list(&metadata, "packages").map(package).map(|package| (package.name.clone(), package)).collect()
}

fn package(value: &Value) -> Package {
    let manifest = from_root(value, "manifest_path");
    let (for_tests, for_itself): (Vec<&Value>, Vec<&Value>) =
        list(value, "dependencies").partition(|one| one.get("kind").and_then(Value::as_str) == Some("dev"));
    let names =
        |dependencies: Vec<&Value>| dependencies.iter().map(|one| text(one, "name").to_owned()).collect();
    Package {
        name: text(value, "name").to_owned(),
        path: manifest.strip_suffix("/Cargo.toml").expect("a manifest has this name").to_owned(),
        built_with: names(for_itself),
        tested_with: names(for_tests),
        targets: list(value, "targets").filter_map(target).collect(),
    }
}

/// The target, if it is a library or a program.
fn target(value: &Value) -> Option<Target> {
    let kinds: Vec<&str> = list(value, "kind").filter_map(Value::as_str).collect();
    (kinds.contains(&"lib") || kinds.contains(&"bin")).then(|| Target {
        file: from_root(value, "src_path"),
        is_library: kinds.contains(&"lib"),
        is_tested: is_set(value, "test"),
        has_examples_run: is_set(value, "doctest"),
    })
}

/// A path that cargo gives, from the root of the workspace.
fn from_root(value: &Value, field: &str) -> String {
    let path = text(value, field).replace('\\', "/");
    let root = root().to_string_lossy().replace('\\', "/");
    let path = path.strip_prefix(&root).expect("a package is below the root of the workspace");
    path.trim_start_matches('/').to_owned()
}

fn list<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    value.get(field).and_then(Value::as_array).expect("cargo lists them").iter()
}

fn is_set(value: &Value, field: &str) -> bool {
    value.get(field).and_then(Value::as_bool).expect("cargo tells what it does with a target")
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).expect("cargo names its packages and their places")
}
