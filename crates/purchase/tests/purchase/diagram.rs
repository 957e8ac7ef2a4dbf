//! The state machine as a drawing, on the front page of the crate. It is made from the rows of the table, so it has every move
//! and no other.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::table::{Row, rows};

const BLESS: &str = "cargo test -p vendgate-purchase --test purchase -- --ignored bless_the_diagram";
const BEGINS: &str = "```mermaid\n";
const ENDS: &str = "```\n";

#[test]
fn the_diagram_is_the_machine() {
    let page = fs::read_to_string(front_page()).unwrap();
    let (_, drawn, _) = parts(&page);
    assert!(
        drawn == diagram(),
        "crates/purchase/README.md draws\n{drawn}\nand the machine is\n{}\n{BLESS}",
        diagram()
    );
}

#[test]
#[ignore = "writes the diagram into crates/purchase/README.md: run it by name, and read the diff"]
fn bless_the_diagram() {
    let page = fs::read_to_string(front_page()).unwrap();
    let (before, _, after) = parts(&page);
    fs::write(front_page(), format!("{before}{}{after}", diagram())).unwrap();
}

fn front_page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")
}

/// What is before the diagram, the diagram, and what is after it.
fn parts(page: &str) -> (&str, &str, &str) {
    let begins = page.find(BEGINS).expect("the front page has a diagram") + BEGINS.len();
    let (before, rest) = page.split_at(begins);
    let (drawn, after) = rest.split_at(rest.find(ENDS).expect("the diagram ends"));
    (before, drawn, after)
}

/// One arrow for each pair of states and each set of effects, with all facts that lead along it.
fn diagram() -> String {
    let mut arrows: BTreeMap<(usize, usize, String), Vec<String>> = BTreeMap::new();
    let mut states: Vec<String> = Vec::new();
    let rows = rows();
    for row in rows.iter().skip(1) {
        if !states.contains(&row.state) {
            states.push(row.state.clone());
        }
    }
    for Row { state, fact, becomes, .. } in rows.iter().skip(1) {
        let (next, effect) = becomes.split_once("; ").unwrap_or((becomes, ""));
        let next = next.split(' ').next().unwrap_or_default();
        let place = |name: &str| states.iter().position(|state| state == name);
        // What is refused or already there moves nothing.
        let (Some(from), Some(to)) = (place(state), place(next)) else { continue };
        let facts = arrows.entry((from, to, effect.to_owned())).or_default();
        if !facts.contains(fact) {
            facts.push(fact.clone());
        }
    }
    // Mermaid ends a statement at a semicolon.
    let mut text = String::from("stateDiagram-v2\n    [*] --> IN_FLIGHT: reserved / hold the total\n");
    for ((from, to, effect), facts) in &arrows {
        let [from, to] = [from, to].map(|place| states.get(*place).map_or("", String::as_str));
        let effect = if effect.is_empty() { String::new() } else { format!(" / {effect}") };
        let _infallible = writeln!(text, "    {from} --> {to}: {}{effect}", facts.join(", "));
    }
    text.push_str("    SUCCESSFUL --> [*]\n    FAILED --> [*]\n");
    text
}
