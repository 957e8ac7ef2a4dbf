//! The document with the results of the last whole run.

use std::{fs, path::Path};

use crate::Failure;

const DOCUMENT: &str = "docs/PERFORMANCE.md";
const BEGIN: &str = "<!-- measured by just bench: begin -->";
const END: &str = "<!-- measured by just bench: end -->";

/// Writes the results into the document, in place of the earlier ones.
pub fn write(results: &str) -> Result<(), Failure> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = workspace.join(DOCUMENT);
    let document = fs::read_to_string(&path)?;
    let place = || format!("{DOCUMENT} has no place for the results: {BEGIN} and, after it, {END}");
    let document = replaced(&document, results).ok_or_else(place)?;
    Ok(fs::write(path, document)?)
}

/// The document with these results between the two marks.
fn replaced(document: &str, results: &str) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_earlier, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{results}\n\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let document = format!("# Before\n\n{BEGIN}\nold\n{END}\n\nAfter\n");
        let once = replaced(&document, "new").unwrap();
        assert_eq!(once, format!("# Before\n\n{BEGIN}\n\nnew\n\n{END}\n\nAfter\n"));
        assert_eq!(replaced(&once, "new").unwrap(), once);
    }

    #[test]
    fn without_both_marks_in_order_nothing_is_replaced() {
        for document in [String::new(), format!("{BEGIN}\n"), format!("{END}\n{BEGIN}\n")] {
            assert_eq!(replaced(&document, "new"), None, "{document}");
        }
    }

    #[test]
    fn the_document_of_the_workspace_has_a_place_for_the_results() {
        let document = include_str!("../../../docs/PERFORMANCE.md");
        assert!(replaced(document, "results").is_some());
    }
}
