//! No package has a dependency that it does not use: each one has to be kept up to date.

use crate::{
    cargo::{Package, packages},
    source::{SourceFile, assert_none, rust_files},
};

/// Dependencies that no source file names, and why they are needed.
const UNNAMED: &[(&str, &str, &str)] = &[];

#[test]
fn every_dependency_is_named_in_the_code_of_its_package() {
    let files = rust_files();
    let mut broken = Vec::new();
    for package in packages().values() {
        let source = format!("{}/src/", package.path);
        let everything = format!("{}/", package.path);
        let needs = [
            (&package.built_with, &source),
            (&package.optional, &source),
            (&package.tested_with, &everything),
        ];
        for (libraries, place) in needs {
            let needless = libraries.iter().filter(|library| !is_named(library, package, place, &files));
            broken.extend(needless.map(|library| format!("{}: {library}, in {place}", package.name)));
        }
    }
    assert_none(&broken, "Remove these dependencies, no code names them:");
}

#[test]
fn a_name_within_another_name_is_not_that_name() {
    assert!(names("use vend::Product;", "vend") && names("let sold = vend::all();", "vend"));
    assert!(!names("use vending::Vending;", "vend") && !names("// a vend, perhaps", "vend"));
}

fn is_named(library: &str, package: &Package, place: &str, files: &[SourceFile]) -> bool {
    if UNNAMED.iter().any(|(user, used, _)| *user == package.name && *used == library) {
        return true;
    }
    let name = library.replace('-', "_");
    files.iter().filter(|file| file.path.starts_with(place)).any(|file| names(&file.text, &name))
}

/// Whether code, not a comment, contains `name` as a whole word.
fn names(text: &str, name: &str) -> bool {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("// "));
    code.flat_map(|line| line.split(|character: char| !character.is_alphanumeric() && character != '_'))
        .any(|word| word == name)
}
