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
    let packages = metadata.get("packages").and_then(Value::as_array).expect("cargo lists the packages");
    packages.iter().map(package).map(|package| (package.name.clone(), package)).collect()
}

fn package(value: &Value) -> Package {
    let manifest = text(value, "manifest_path").replace('\\', "/");
    let root = root().to_string_lossy().replace('\\', "/");
    let path = manifest.strip_prefix(&root).and_then(|path| path.strip_suffix("/Cargo.toml"));
    let dependencies =
        value.get("dependencies").and_then(Value::as_array).expect("a package lists what it uses");
    let (for_tests, for_itself): (Vec<&Value>, Vec<&Value>) =
        dependencies.iter().partition(|one| one.get("kind").and_then(Value::as_str) == Some("dev"));
    let names =
        |dependencies: Vec<&Value>| dependencies.iter().map(|one| text(one, "name").to_owned()).collect();
    Package {
        name: text(value, "name").to_owned(),
        path: path
            .expect("the package is below the root of the workspace")
            .trim_start_matches('/')
            .to_owned(),
        built_with: names(for_itself),
        tested_with: names(for_tests),
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).expect("cargo names its packages and their places")
}
