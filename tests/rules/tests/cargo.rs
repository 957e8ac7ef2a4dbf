//! The packages of the workspace as cargo knows them.

use std::{collections::BTreeMap, process::Command};

use serde_json::Value;

use crate::source::root;

/// A package as cargo knows it.
pub struct Package {
    /// Its name, which `cargo -p` takes.
    pub name: String,
    /// What the code of the workspace calls it: the name of its library, if it has one.
    pub called: String,
    /// Its directory, from the root.
    pub path: String,
    /// The packages that it needs to be built, as its code calls them.
    pub built_with: Vec<String>,
    /// The packages that are built with it only if a feature is switched on.
    pub optional: Vec<String>,
    /// The packages that its tests need besides.
    pub tested_with: Vec<String>,
    /// Its library and its programs.
    pub targets: Vec<Target>,
}

impl Package {
    /// The packages that it needs to be built, with every feature.
    pub fn can_be_built_with(&self) -> impl Iterator<Item = &String> {
        self.built_with.iter().chain(&self.optional)
    }
}

/// A library or a program.
pub struct Target {
    /// Its name.
    pub name: String,
    /// Its first file, from the root.
    pub file: String,
    /// Whether it is a library.
    pub is_library: bool,
    /// Whether `cargo test` runs the tests in its code.
    pub is_tested: bool,
    /// Whether `cargo test` runs the examples in its documentation.
    pub has_examples_run: bool,
}

/// The packages of the workspace by the name that code uses.
pub fn packages() -> BTreeMap<String, Package> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo runs: it runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    list(&metadata, "packages").map(package).map(|package| (package.called.clone(), package)).collect()
}

fn package(value: &Value) -> Package {
    let manifest = from_root(value, "manifest_path");
    let (for_tests, for_itself): (Vec<&Value>, Vec<&Value>) =
        list(value, "dependencies").partition(|one| one.get("kind").and_then(Value::as_str) == Some("dev"));
    let names = |dependencies: Vec<&Value>| {
        dependencies.into_iter().map(|one| name_in_code(one).to_owned()).collect()
    };
    let (optional, for_itself) = for_itself.into_iter().partition(|one| is_set(one, "optional"));
    let targets: Vec<Target> = list(value, "targets").filter_map(target).collect();
    let library = targets.iter().find(|target| target.is_library).map(|target| target.name.replace('_', "-"));
    Package {
        name: text(value, "name").to_owned(),
        called: library.unwrap_or_else(|| text(value, "name").to_owned()),
        path: manifest.strip_suffix("/Cargo.toml").expect("a manifest has this name").to_owned(),
        built_with: names(for_itself),
        optional: names(optional),
        tested_with: names(for_tests),
        targets,
    }
}

/// The target, if it is a library or a program.
fn target(value: &Value) -> Option<Target> {
    let kinds: Vec<&str> = list(value, "kind").filter_map(Value::as_str).collect();
    (kinds.contains(&"lib") || kinds.contains(&"bin")).then(|| Target {
        name: text(value, "name").to_owned(),
        file: from_root(value, "src_path"),
        is_library: kinds.contains(&"lib"),
        is_tested: is_set(value, "test"),
        has_examples_run: is_set(value, "doctest"),
    })
}

/// What the code calls a dependency: the package, unless the workspace gives it another name.
fn name_in_code(dependency: &Value) -> &str {
    dependency.get("rename").and_then(Value::as_str).unwrap_or_else(|| text(dependency, "name"))
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
