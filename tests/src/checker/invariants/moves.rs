//! The allowed moves of a purchase, and the history that records them.

use std::collections::{BTreeMap, BTreeSet};

use crate::checker::{Event, Evidence, Invariant};

pub(in crate::checker) const I4: Invariant = Invariant {
    id: "I4",
    sentence: "a purchase ends once, moves as the state table allows, and is settled only and always on success",
    broken_by: ends_once,
};

pub(in crate::checker) const I18: Invariant = Invariant {
    id: "I18",
    sentence: "every move is in the history, and a stored line never changes",
    broken_by: history_is_whole,
};

/// The table that a test of `purchase` generates from the state machine.
const TABLE: &str = include_str!("../../../../docs/state-machine.table");

const STATES: [&str; 6] = ["IN_FLIGHT", "IN_DOUBT", "RETRY_DUE", "REVIEW", "SUCCESSFUL", "FAILED"];

/// The state before, the fact, and the state after.
fn allowed_moves() -> BTreeSet<(&'static str, &'static str, &'static str)> {
    let rows = TABLE.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (state, fact) = (words.next()?, words.next()?);
        let becomes = line.rsplit("  ").next()?.trim();
        let becomes = becomes.split([' ', ';']).next()?;
        (STATES.contains(&state) && STATES.contains(&becomes)).then_some((state, fact, becomes))
    });
    rows.collect()
}

fn ends_once(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    let allowed = allowed_moves();
    let settlements = evidence.books.settlements();
    let histories = evidence.books.histories();
    for purchase in &evidence.books.purchases {
        let entries: BTreeSet<i64> =
            settlements.get(&purchase.id).into_iter().flatten().map(|posting| posting.entry).collect();
        if entries.len() != usize::from(purchase.state == "SUCCESSFUL") {
            broken.push(format!(
                "purchase {} is {} with {} settlements",
                purchase.id,
                purchase.state,
                entries.len()
            ));
        }
        let history = histories.get(&purchase.id).map_or(&[][..], Vec::as_slice);
        broken.extend(history.windows(2).filter_map(|pair| match pair {
            [from, to] => forbidden(&allowed, from, to),
            _ => None,
        }));
    }
    for purchase in evidence.earlier.purchases.iter().filter(|purchase| !purchase.is_open()) {
        let now = evidence.books.purchase(purchase.id);
        if now != Some(purchase) {
            broken.push(format!("purchase {} had ended, but changed: {purchase:?} and {now:?}", purchase.id));
        }
    }
    broken
}

fn forbidden(allowed: &BTreeSet<(&str, &str, &str)>, from: &Event, to: &Event) -> Option<String> {
    let is_allowed = allowed.contains(&(from.state.as_str(), to.fact.as_str(), to.state.as_str()));
    // A vend that comes to light after the end does not change the state. It is recorded as an incident.
    let is_late_evidence = from.state == to.state && matches!(to.fact.as_str(), "VENDED" | "OPERATOR_VENDED");
    if is_allowed || is_late_evidence {
        return None;
    }
    Some(format!("purchase {} went from {} by {} to {}", to.purchase, from.state, to.fact, to.state))
}

fn history_is_whole(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    let histories = evidence.books.histories();
    for purchase in &evidence.books.purchases {
        let history = histories.get(&purchase.id).map_or(&[][..], Vec::as_slice);
        let (Some(first), Some(last)) = (history.first(), history.last()) else {
            broken.push(format!("purchase {} has no history", purchase.id));
            continue;
        };
        if (first.fact.as_str(), first.fence) != ("RESERVED", 1) {
            broken.push(format!("the history of purchase {} begins with {first:?}", purchase.id));
        }
        if (&last.state, last.fence, last.attempt) != (&purchase.state, purchase.fence, purchase.attempt) {
            broken.push(format!("purchase {} moved without a line of history: {last:?}", purchase.id));
        }
        let skips =
            |pair: &[&Event]| matches!(pair, [one, two] if !(0..=1).contains(&(two.fence - one.fence)));
        if history.windows(2).any(skips) {
            broken.push(format!("the history of purchase {} skips a fence", purchase.id));
        }
    }
    if !is_kept(&evidence.earlier.events, &evidence.books.events, |event| event.id) {
        broken.push("a line of history was changed or deleted".to_owned());
    }
    let key = |posting: &crate::checker::Posting| (posting.entry, posting.debit, posting.credit);
    if !is_kept(&evidence.earlier.postings, &evidence.books.postings, key) {
        broken.push("a posting was changed or deleted".to_owned());
    }
    broken
}

/// Whether every earlier row still exists unchanged.
fn is_kept<T: PartialEq, K: Ord>(before: &[T], now: &[T], key: impl Fn(&T) -> K) -> bool {
    let now: BTreeMap<K, &T> = now.iter().map(|row| (key(row), row)).collect();
    before.iter().all(|row| now.get(&key(row)) == Some(&row))
}
