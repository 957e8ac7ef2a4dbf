//! The release before: its programs, built from its commit, and the migrations that it does not have.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use sandbox::Programs;

use crate::Failure;

/// A release that was built.
pub struct Release {
    /// Its version, or the name under which it was asked for.
    pub name: String,
    pub commit: String,
    /// Its programs.
    pub programs: Programs,
    /// The version of its schema.
    pub schema: String,
    /// The migrations that it does not have, in order.
    pub lacks: Vec<Migration>,
}

/// A migration.
pub struct Migration {
    name: String,
    /// 14 digits.
    pub version: String,
    /// What takes it back.
    pub down: String,
}

impl Release {
    /// Builds the release of this tag or commit, or the last one, unless it was built before.
    pub fn before(named: Option<&str>) -> Result<Self, Failure> {
        let (name, commit) = match named {
            Some(name) => (name.to_owned(), name.to_owned()),
            None => last()?,
        };
        let commit =
            git(&["rev-parse", "--quiet", "--verify", "--short=12", &format!("{commit}^{{commit}}")])
                .map_err(|_unknown| format!("this clone has no commit {commit}: fetch its whole history"))?;
        let place = target().join("upgrade").join(&commit);
        let (tree, program) = (place.join("tree"), place.join("sandbox"));
        if !program.exists() {
            unpack(&commit, &tree)?;
            build(&tree, &place.join("target"), &program)?;
        }
        let (ours, its) = (migrations(workspace())?, migrations(&tree)?);
        let schema = its.last().ok_or("the release before has no migrations")?.version.clone();
        let lacks = ours.into_iter().filter(|one| !its.iter().any(|other| other.name == one.name)).collect();
        Ok(Self { name, commit, programs: Programs::of(&program), schema, lacks })
    }
}

/// The version and the commit of the last release.
fn last() -> Result<(String, String), Failure> {
    let releases = fs::read_to_string(workspace().join("docs/releases.table"))?;
    let newest = releases.lines().find(|line| !line.starts_with('#')).unwrap_or_default();
    match *newest.split_whitespace().collect::<Vec<_>>() {
        [version, commit, _day] => Ok((version.to_owned(), commit.to_owned())),
        _ => Err("docs/releases.table does not begin with a version, a commit and a day".into()),
    }
}

/// The migrations of a tree, in order.
fn migrations(tree: &Path) -> Result<Vec<Migration>, Failure> {
    let mut migrations = Vec::new();
    for entry in fs::read_dir(tree.join("migrations"))? {
        let folder = entry?;
        let name = folder.file_name().to_string_lossy().into_owned();
        let version = name.chars().filter(char::is_ascii_digit).take(14).collect();
        migrations.push(Migration {
            name,
            version,
            down: fs::read_to_string(folder.path().join("down.sql"))?,
        });
    }
    migrations.sort_by(|one, other| one.version.cmp(&other.version));
    Ok(migrations)
}

/// Writes the files of a commit. They are as old as this moment and not as their commit. So each is newer than anything that
/// cargo has built, and cargo takes nothing for up to date that was built from another tree.
fn unpack(commit: &str, tree: &Path) -> Result<(), Failure> {
    if tree.exists() {
        fs::remove_dir_all(tree)?;
    }
    fs::create_dir_all(tree)?;
    let mut archive = Command::new("git")
        .current_dir(workspace())
        .args(["archive", commit])
        .stdout(Stdio::piped())
        .spawn()?;
    let files = archive.stdout.take().ok_or("git archive has no output")?;
    let unpacked = Command::new("tar").args(["-x", "-m"]).current_dir(tree).stdin(files).status()?;
    let is_whole = archive.wait()?.success() && unpacked.success();
    if is_whole { Ok(()) } else { Err(format!("the files of {commit} cannot be read").into()) }
}

/// Builds the program that has all servers. `cargo test` has built most of the dependencies: they have the same features when the
/// whole workspace is selected, with what its tests need (there are no examples), and they are optimised as this tree says. The
/// packages of the workspace are in the same build directory under names of their own, because no other build has this kind of debug
/// information: what this tree has built stays.
fn build(tree: &Path, target: &Path, program: &Path) -> Result<(), Failure> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let built = Command::new(cargo)
        .args(["build", "--locked", "--quiet", "--workspace", "--bin", "sandbox", "--examples"])
        .arg("--target-dir")
        .arg(target)
        // Cargo takes the profiles of this file, and nothing else.
        .arg("--config")
        .arg(workspace().join("Cargo.toml"))
        .args(["--config", r#"profile.dev.debug = "line-directives-only""#])
        .args(["--config", r#"profile.dev.build-override.debug = "line-directives-only""#])
        .env("CARGO_BUILD_BUILD_DIR", self::target())
        .current_dir(tree)
        .status()?;
    if !built.success() {
        return Err("the release before cannot be built".into());
    }
    fs::copy(target.join("debug/sandbox"), program)?;
    Ok(())
}

fn git(arguments: &[&str]) -> Result<String, Failure> {
    let output = Command::new("git").current_dir(workspace()).args(arguments).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).expect("the package is in tests/ of the workspace")
}

fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from)
}
