//! Values that an organisation or a log must not show.

use std::collections::BTreeMap;

use crate::checker::{Evidence, Invariant};

pub(in crate::checker) const I14: Invariant =
    Invariant { id: "I14", sentence: "no answer shows data of another organisation", broken_by: neighbours };

pub(in crate::checker) const I15: Invariant = Invariant {
    id: "I15",
    sentence: "no log and no plain column contains a token or a secret",
    broken_by: leaks,
};

/// The number of digits of a token.
const DIGITS: usize = 20;

fn neighbours(evidence: &Evidence) -> Vec<String> {
    let owners = owners(evidence);
    let mut broken = Vec::new();
    for exchange in &evidence.history.exchanges {
        let Some(reply) = &exchange.reply else { continue };
        for mark in marks(&reply.text) {
            let owner = owners.get(mark);
            if owner.is_some_and(|owner| *owner != exchange.organisation) {
                broken.push(format!(
                    "{:?} of organisation {} showed data of organisation {owner:?}",
                    exchange.call, exchange.organisation
                ));
            }
        }
    }
    broken
}

/// The organisation of each token and of each purchase's reference.
fn owners(evidence: &Evidence) -> BTreeMap<&str, i64> {
    let mut owners: BTreeMap<&str, i64> =
        evidence.books.purchases.iter().map(|p| (p.reference.as_str(), p.organisation)).collect();
    let purchases = evidence.books.by_reference();
    for (name, lines) in evidence.vends.vended() {
        let Some(purchase) = purchases.get(&name) else { continue };
        let tokens = lines.into_iter().flat_map(|line| &line.tokens);
        owners.extend(tokens.map(|token| (token.as_str(), purchase.organisation)));
    }
    owners
}

/// Every word in a text that may be a token or a purchase's reference.
fn marks(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '/'));
    words.filter(|word| word.starts_with("TOP/") || is_token(word))
}

fn is_token(word: &str) -> bool {
    word.len() == DIGITS && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn leaks(evidence: &Evidence) -> Vec<String> {
    let vended = evidence.vends.vended();
    let tokens: BTreeMap<&str, &str> = vended
        .values()
        .flatten()
        .flat_map(|line| line.tokens.iter().map(|token| (token.as_str(), line.reference.as_str())))
        .collect();
    let mut broken = Vec::new();
    for log in &evidence.logs {
        let runs = digits(&log.text);
        let leaked: Vec<&str> = runs.iter().flat_map(|run| leaked_in(run, &tokens)).collect();
        if let Some(reference) = leaked.first() {
            broken.push(format!("{} shows {} tokens, the first of {reference}", log.name, leaked.len()));
        }
        for secret in evidence.secrets.iter().filter(|secret| log.text.contains(&secret.value)) {
            broken.push(format!("{} shows {}", log.name, secret.name));
        }
    }
    broken
}

/// Runs of digits, with spaces, `+`, `-` and `%20` removed. A message groups the digits of a token by four.
fn digits(text: &str) -> Vec<String> {
    let plain = text.replace("%20", " ");
    let parted = plain.split(|c: char| !(c.is_ascii_digit() || matches!(c, ' ' | '+' | '-')));
    let runs = parted.map(|run| run.chars().filter(char::is_ascii_digit).collect::<String>());
    runs.filter(|run| run.len() >= DIGITS).collect()
}

/// The references whose tokens appear anywhere in a run of digits. Other digits may be next to them.
fn leaked_in<'a>(run: &str, tokens: &BTreeMap<&str, &'a str>) -> Vec<&'a str> {
    let starts = 0..=run.len().saturating_sub(DIGITS);
    let words = starts.filter_map(|start| run.get(start..start + DIGITS));
    words.filter_map(|word| tokens.get(word).copied()).collect()
}
