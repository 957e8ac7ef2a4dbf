//! What the utility vended, compared with what was paid for.

use std::collections::BTreeMap;

use crate::checker::{Claim, Evidence, Invariant};

pub(in crate::checker) const I1: Invariant = Invariant {
    id: "I1",
    sentence: "at most one vend per purchase and per provider reference",
    broken_by: one_vend,
};

pub(in crate::checker) const I2: Invariant = Invariant {
    id: "I2",
    sentence: "a purchase that was vended is not refunded",
    broken_by: no_refund_of_a_vend,
};

pub(in crate::checker) const I3: Invariant = Invariant {
    id: "I3",
    sentence: "what is paid for was vended: the same reference, subscriber, amount, currency and token",
    broken_by: paid_is_vended,
};

fn one_vend(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    let owners = evidence.books.by_reference();
    let mut names: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
    for (name, lines) in evidence.vends.vended() {
        if lines.len() > 1 {
            broken.push(format!("{} {} was vended {} times", name.0, name.1, lines.len()));
        }
        if let Some(purchase) = owners.get(&name) {
            names.entry(purchase.id).or_default().push(name.1);
        }
    }
    for (purchase, names) in names.into_iter().filter(|(_, names)| names.len() > 1) {
        broken.push(format!("purchase {purchase} was vended under {}", names.join(" and ")));
    }
    broken
}

fn no_refund_of_a_vend(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    let owners = evidence.books.by_reference();
    for name in evidence.vends.vended().keys() {
        if let Some(purchase) = owners.get(name).filter(|purchase| purchase.state == "FAILED") {
            broken.push(format!("purchase {} failed, but {} {} was vended", purchase.id, name.0, name.1));
        }
    }
    for incident in &evidence.books.incidents {
        broken.push(format!("purchase {}: an incident: {}", incident.purchase, incident.kind));
    }
    broken
}

fn paid_is_vended(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    let vended = evidence.vends.vended();
    for purchase in evidence.earlier.purchases.iter().filter(|purchase| purchase.state == "SUCCESSFUL") {
        let name = (purchase.product.as_str(), purchase.provider_reference.as_str());
        let Some([vend, ..]) = vended.get(&name).map(Vec::as_slice) else {
            broken.push(format!("purchase {} is paid for, but {} was never vended", purchase.id, name.1));
            continue;
        };
        let paid = (&purchase.subscriber, Some(purchase.net), &purchase.currency);
        if paid != (&vend.subscriber, vend.minor(), &vend.currency) {
            broken.push(format!("purchase {} was for {paid:?}, but the vend was {vend:?}", purchase.id));
        }
        if purchase.has_token == vend.tokens.is_empty() && purchase.product != "AIRTIME" {
            broken.push(format!(
                "purchase {} has a stored token: {}; this contradicts its vend",
                purchase.id, purchase.has_token
            ));
        }
    }
    let owners = evidence.books.by_reference();
    for name in vended.keys().filter(|name| !owners.contains_key(*name)) {
        broken.push(format!("{} {} was vended, but no attempt ordered it", name.0, name.1));
    }
    broken.extend(shown_tokens(evidence));
    broken
}

/// Compares the tokens in the answers. A stored token is sealed, so an answer is the only place to read it.
fn shown_tokens(evidence: &Evidence) -> Vec<String> {
    let vended = evidence.vends.vended();
    let mut broken = Vec::new();
    for exchange in &evidence.history.exchanges {
        let Claim::Bought { id } = exchange.claim() else { continue };
        let Some(purchase) = evidence.books.purchase(id) else { continue };
        let name = (purchase.product.as_str(), purchase.provider_reference.as_str());
        let vend = vended.get(&name).and_then(|lines| lines.first());
        let tokens: Vec<&str> =
            vend.into_iter().flat_map(|vend| vend.tokens.iter().map(String::as_str)).collect();
        if tokens != exchange.tokens() && purchase.product != "AIRTIME" {
            broken.push(format!("purchase {id} was answered with another token than was vended for it"));
        }
    }
    broken
}
