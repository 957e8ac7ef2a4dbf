//! The document with the results of the last whole run.

use std::{fs, path::Path};

use crate::Failure;

const DOCUMENT: &str = "docs/PERFORMANCE.md";

/// Writes the results of a recipe into the document, in place of its earlier ones.
pub fn write(recipe: &str, results: &str) -> Result<(), Failure> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = workspace.join(DOCUMENT);
    let document = fs::read_to_string(&path)?;
    let [begin, end] = marks(recipe);
    let place = || format!("{DOCUMENT} has no place for the results: {begin} and, after it, {end}");
    let document = replaced(&document, recipe, results).ok_or_else(place)?;
    Ok(fs::write(path, document)?)
}

/// The document with these results between the two marks of the recipe.
fn replaced(document: &str, recipe: &str, results: &str) -> Option<String> {
    let [begin, end] = marks(recipe);
    let (before, rest) = document.split_once(&begin)?;
    let (_earlier, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n\n{results}\n\n{end}{after}"))
}

fn marks(recipe: &str) -> [String; 2] {
    ["begin", "end"].map(|place| format!("<!-- measured by just {recipe}: {place} -->"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let [begin, end] = marks("bench");
        let document = format!("# Before\n\n{begin}\nold\n{end}\n\nAfter\n");
        let once = replaced(&document, "bench", "new").unwrap();
        assert_eq!(once, format!("# Before\n\n{begin}\n\nnew\n\n{end}\n\nAfter\n"));
        assert_eq!(replaced(&once, "bench", "new").unwrap(), once);
        assert_eq!(replaced(&once, "growth", "new"), None);
    }

    #[test]
    fn without_both_marks_in_order_nothing_is_replaced() {
        let [begin, end] = marks("bench");
        for document in [String::new(), format!("{begin}\n"), format!("{end}\n{begin}\n")] {
            assert_eq!(replaced(&document, "bench", "new"), None, "{document}");
        }
    }

    #[test]
    fn the_document_of_the_workspace_has_a_place_for_the_results() {
        let document = include_str!("../../../docs/PERFORMANCE.md");
        for recipe in ["bench", "growth"] {
            assert!(replaced(document, recipe, "results").is_some(), "{recipe}");
        }
    }
}
