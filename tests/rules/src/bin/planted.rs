//! Checks the tests: plants each bug of `scripts/planted` in a copy of the workspace and runs the one test that must find
//! it. Arguments are the names of bugs; without any, all are planted. Prints a row for each, and fails if one goes
//! unnoticed.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, ExitCode, Output},
};

use workspace_rules::{planted::PlantedBug, workspace::root};

/// Where the copy is, and what is built from it: a directory of its own, so that the developer's build is not disturbed.
struct Copy {
    tree: PathBuf,
    build: PathBuf,
}

/// What became of a planted bug.
enum Verdict {
    Found,
    Unnoticed,
    /// The test did not run to its end, for example because the code does not compile.
    NotRun(String),
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let names: BTreeSet<String> = std::env::args().skip(1).collect();
    let mut bugs = PlantedBug::all(&root().join("scripts/planted"))?;
    let unknown: Vec<&String> =
        names.iter().filter(|name| bugs.iter().all(|bug| bug.name != **name)).collect();
    if !unknown.is_empty() {
        return Err(format!("scripts/planted has no such bug: {unknown:?}").into());
    }
    bugs.retain(|bug| names.is_empty() || names.contains(&bug.name));
    // A bug also builds again what the bug before it broke. Bugs of one crate, one after the other, build the same crates.
    bugs.sort_by_key(|bug| (bug.command.clone(), bug.files()));
    let copy = Copy::of(&root())?;
    copy.passes_without_bugs(&bugs)?;
    let mut out = io::stdout().lock();
    writeln!(out, "| Bug | Where | Found by |\n|---|---|---|")?;
    let mut unnoticed = 0_usize;
    for bug in &bugs {
        match copy.plant(bug)? {
            Verdict::Found => writeln!(out, "{}", bug.row())?,
            Verdict::Unnoticed => {
                unnoticed = unnoticed.saturating_add(1);
                writeln!(out, "| {} | **goes unnoticed** | `{}` |", bug.bug, bug.caught_by)?;
            }
            Verdict::NotRun(printed) => {
                unnoticed = unnoticed.saturating_add(1);
                writeln!(out, "| {} | **the test did not run** | `{}` |\n{printed}", bug.bug, bug.caught_by)?;
            }
        }
        out.flush()?;
    }
    writeln!(out, "{} bugs planted, {unnoticed} unnoticed", bugs.len())?;
    Ok(if unnoticed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Copy {
    /// Copies what git knows and does not ignore. A file whose content is unchanged keeps its time, so that cargo builds
    /// only what differs from the last run; a bug that an interrupted run left behind differs.
    fn of(root: &Path) -> Result<Self, Box<dyn Error>> {
        let place = root.join("target/planted");
        let copy = Self { tree: place.join("tree"), build: place.join("build") };
        let listed = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()?;
        if !listed.status.success() {
            return Err(format!("git ls-files: {}", String::from_utf8_lossy(&listed.stderr)).into());
        }
        let listed = String::from_utf8(listed.stdout)?;
        let paths: BTreeSet<&str> =
            listed.split('\0').filter(|path| !path.is_empty() && root.join(path).is_file()).collect();
        for path in &paths {
            copy.takes(root, path)?;
        }
        copy.forgets_all_but(&paths, &copy.tree)?;
        Ok(copy)
    }

    fn takes(&self, root: &Path, path: &str) -> io::Result<()> {
        let (from, to) = (root.join(path), self.tree.join(path));
        if fs::read(&to).is_ok_and(|copied| fs::read(&from).is_ok_and(|source| source == copied)) {
            return Ok(());
        }
        to.parent().map_or(Ok(()), fs::create_dir_all)?;
        // A copy is new: cargo builds again what is newer than its last build.
        fs::copy(&from, &to).map(drop)
    }

    fn forgets_all_but(&self, paths: &BTreeSet<&str>, directory: &Path) -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.is_dir() {
                self.forgets_all_but(paths, &path)?;
                // Diesel would take an empty directory for a migration.
                if fs::read_dir(&path)?.next().is_none() {
                    fs::remove_dir(&path)?;
                }
                continue;
            }
            let from_root = path.strip_prefix(&self.tree).unwrap_or(&path).to_string_lossy().into_owned();
            if !paths.contains(from_root.as_str()) {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// Without a bug every test passes; otherwise its failure would show nothing. A busy machine gets a second chance.
    fn passes_without_bugs(&self, bugs: &[PlantedBug]) -> Result<(), Box<dyn Error>> {
        let mut tests: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for bug in bugs {
            tests.entry(&bug.command).or_default().insert(&bug.caught_by);
        }
        for (command, tests) in tests {
            let tests: Vec<&str> = tests.into_iter().collect();
            if !self.run(command, &tests)?.status.success() {
                let again = self.run(command, &tests)?;
                if !again.status.success() {
                    return Err(format!("without any bug, `{command}` fails:\n{}", printed(&again)).into());
                }
            }
        }
        Ok(())
    }

    fn plant(&self, bug: &PlantedBug) -> Result<Verdict, Box<dyn Error>> {
        let broken = bug.broken_files(&self.tree)?;
        let mut sound = Vec::new();
        for (file, text) in &broken {
            let path = self.tree.join(file);
            sound.push((path.clone(), fs::read(&path)?));
            fs::write(&path, text)?;
        }
        let output = self.run(&bug.command, &[&bug.caught_by]);
        for (path, content) in sound {
            fs::write(path, content)?;
        }
        let output = output?;
        let printed = printed(&output);
        let failed = printed.lines().any(|line| is_failure_of(line, &bug.caught_by));
        Ok(match (output.status.success(), failed) {
            (true, _) => Verdict::Unnoticed,
            (false, true) => Verdict::Found,
            (false, false) => Verdict::NotRun(printed),
        })
    }

    fn run(&self, command: &str, tests: &[&str]) -> io::Result<Output> {
        let mut words = command.split_whitespace();
        Command::new(words.next().unwrap_or("cargo"))
            .args(words)
            .args(["--quiet", "--"])
            .args(tests)
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.build)
            // Each bug changes a few lines, and each crate above them is built again.
            .env("CARGO_INCREMENTAL", "1")
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("RUST_BACKTRACE", "0")
            .output()
    }
}

fn printed(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Whether a line of the test harness says that `test` has failed: `---- module::test stdout ----`.
fn is_failure_of(line: &str, test: &str) -> bool {
    let named = line.strip_prefix("---- ").and_then(|rest| rest.split(' ').next());
    named.is_some_and(|path| path == test || path.ends_with(&format!("::{test}")))
}
