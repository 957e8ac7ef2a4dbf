//! Planted bugs: small edits that break one rule of the service, each with the test that must fail when it is made.

use std::{collections::BTreeSet, fs, io, ops::Range, path::Path};

use serde::Deserialize;

/// One bug, as a file of `scripts/planted` describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlantedBug {
    /// The name of its file, without the extension.
    #[serde(skip)]
    pub name: String,
    /// What goes wrong, in a sentence.
    pub bug: String,
    /// The test that must fail.
    pub caught_by: String,
    /// The command that runs this test among others.
    pub command: String,
    /// What is changed.
    #[serde(rename = "edit")]
    pub edits: Vec<Edit>,
}

/// A piece of code that is replaced. It is found wherever it moves within its file, and however it is wrapped: white
/// space does not count.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The path of the file from the root of the workspace.
    pub file: String,
    /// The piece. It must stand in the file exactly once.
    pub find: String,
    /// What replaces it.
    pub replace: String,
}

/// Why a bug cannot be planted.
#[derive(Debug, thiserror::Error)]
pub enum PlantingError {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A description is not valid.
    #[error("{path}: {source}")]
    Description {
        /// The file.
        path: String,
        /// What is wrong with it.
        source: Box<toml::de::Error>,
    },
    /// The code has changed since the bug was described.
    #[error("{file} has {count} places like this, and must have one; describe the bug anew: {find}")]
    Stale {
        /// The file to be edited.
        file: String,
        /// How many places match.
        count: usize,
        /// The piece that was looked for.
        find: String,
    },
}

impl PlantedBug {
    /// Every bug that is described in `directory`, ordered by name.
    ///
    /// # Errors
    /// If a description cannot be read or is not valid.
    pub fn all(directory: &Path) -> Result<Vec<Self>, PlantingError> {
        let listed = fs::read_dir(directory).map_err(|source| failed(directory, source))?;
        let mut paths = Vec::new();
        for entry in listed {
            paths.push(entry.map_err(|source| failed(directory, source))?.path());
        }
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        paths.sort();
        paths.iter().map(|path| Self::read(path)).collect()
    }

    fn read(path: &Path) -> Result<Self, PlantingError> {
        let text = fs::read_to_string(path).map_err(|source| failed(path, source))?;
        let bug: Self = toml::from_str(&text).map_err(|source| PlantingError::Description {
            path: path.display().to_string(),
            source: Box::new(source),
        })?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, ..bug })
    }

    /// The files below `root` as this bug leaves them: paths from the root, and texts. Nothing is written.
    ///
    /// # Errors
    /// If a file cannot be read, or a piece of code is not there exactly once.
    pub fn broken_files(&self, root: &Path) -> Result<Vec<(String, String)>, PlantingError> {
        let mut files: Vec<(String, String)> = Vec::new();
        for edit in &self.edits {
            let earlier = files.iter().position(|(file, _)| *file == edit.file);
            let text = if let Some(index) = earlier {
                files.remove(index).1
            } else {
                let path = root.join(&edit.file);
                fs::read_to_string(&path).map_err(|source| failed(&path, source))?
            };
            files.push((edit.file.clone(), edit.apply(&text)?));
        }
        Ok(files)
    }

    /// The files that it changes, ordered.
    pub fn files(&self) -> BTreeSet<String> {
        self.edits.iter().map(|edit| edit.file.clone()).collect()
    }

    /// This bug as a row of the page that lists them all.
    pub fn row(&self) -> String {
        let files: Vec<String> = self.files().iter().map(|file| format!("`{file}`")).collect();
        format!("| {} | {} | `{}` |", self.bug, files.join(" "), self.caught_by)
    }
}

impl Edit {
    /// The SQL function of a migration that is changed. `None` if the piece is in no function, or not in the text exactly once.
    pub fn function(&self, migration: &str) -> Option<String> {
        let places = places(migration, &self.find);
        let [place] = places.as_slice() else { return None };
        let (_before, definition) = migration.get(..place.end)?.rsplit_once(" FUNCTION ")?;
        // A statement after the function ends it.
        let is_open = definition.matches("$$").count() < 2;
        let name = definition.split('(').next()?;
        is_open.then(|| name.to_owned())
    }

    /// `text` with the piece replaced.
    ///
    /// # Errors
    /// If the piece is not in `text` exactly once.
    pub fn apply(&self, text: &str) -> Result<String, PlantingError> {
        let places = places(text, &self.find);
        let [place] = places.as_slice() else {
            let (file, find) = (self.file.clone(), self.find.trim().to_owned());
            return Err(PlantingError::Stale { file, count: places.len(), find });
        };
        let mut broken = text.to_owned();
        broken.replace_range(place.clone(), self.replace.trim());
        Ok(broken)
    }
}

/// Where `piece` stands in `text`, white space aside.
fn places(text: &str, piece: &str) -> Vec<Range<usize>> {
    let wanted: Vec<char> = piece.chars().filter(|character| !character.is_whitespace()).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let inked: Vec<(usize, char)> =
        text.char_indices().filter(|(_, character)| !character.is_whitespace()).collect();
    let matching = inked
        .windows(wanted.len())
        .filter(|window| window.iter().zip(&wanted).all(|((_, present), wanted)| present == wanted));
    matching
        .filter_map(|window| {
            let (start, _) = window.first()?;
            let (end, last) = window.last()?;
            Some(*start..end.saturating_add(last.len_utf8()))
        })
        .collect()
}

fn failed(path: &Path, source: io::Error) -> PlantingError {
    PlantingError::File { path: path.display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use super::Edit;

    fn edit(find: &str, replace: &str) -> Edit {
        Edit { file: "lib.rs".to_owned(), find: find.to_owned(), replace: replace.to_owned() }
    }

    #[test]
    fn a_piece_is_found_however_it_is_wrapped() {
        let broken = edit("if a && b {", "if a {").apply("fn f() {\n    if a\n        && b\n    {\n");
        assert_eq!(broken.unwrap(), "fn f() {\n    if a {\n");
    }

    #[test]
    fn the_function_of_a_piece_is_the_one_around_it() {
        let migration = "CREATE FUNCTION f(a int) AS $$\n one;\n$$;\nCREATE OR REPLACE FUNCTION g() AS $$\n two;\n$$;\nGRANT three;";
        let function = |piece: &str| edit(piece, "").function(migration);
        assert_eq!(function("one;"), Some("f".to_owned()));
        assert_eq!(function("two;"), Some("g".to_owned()));
        assert_eq!(function("three;"), None);
    }

    #[test]
    fn a_piece_that_is_there_twice_or_never_is_stale() {
        assert!(edit("a();", "").apply("a(); b(); a();").is_err());
        assert!(edit("a();", "").apply("b();").is_err());
        assert!(edit("  ", "x").apply("b();").is_err(), "an edit without a piece replaces nothing");
    }
}
