//! Which confirm made each purchase, and how many purchases may be open.

use std::collections::{BTreeMap, BTreeSet};

use crate::checker::{Claim, Evidence, Exchange, Invariant, Purchase};

pub(in crate::checker) const I10: Invariant = Invariant {
    id: "I10",
    sentence: "each purchase comes from one confirm, each confirm makes at most one, and a key buys once",
    broken_by: of_a_confirm,
};

pub(in crate::checker) const I11: Invariant = Invariant {
    id: "I11",
    sentence: "at most one open purchase per organisation, product and subscriber; an answer saying so is true",
    broken_by: one_open,
};

pub(in crate::checker) const I12: Invariant = Invariant {
    id: "I12",
    sentence: "managed: at most five further requests, within the window, and no new provider reference while an older one is unresolved",
    broken_by: attempts,
};

/// The tolerance between the stored time of an end and the time at which others see it. Others see it at the commit,
/// and a server may be stopped in between.
pub(super) const UNTIL_SEEN: i64 = 5_000_000;

/// How long a reference stays closed, after a retry was answered, for confirms that began before. Includes a small
/// tolerance for the clock.
const CLOSED_FOR: i64 = 2_000_000;

/// The confirms that may have made each purchase, for the organisations whose confirms are all known.
pub(super) fn explanations(evidence: &Evidence) -> Vec<(&Purchase, Vec<&Exchange>)> {
    let mut confirms: BTreeMap<_, Vec<&Exchange>> = BTreeMap::new();
    for exchange in evidence.history.exchanges.iter().filter(|exchange| exchange.is_confirm()) {
        confirms.entry((exchange.organisation, exchange.about())).or_default().push(exchange);
    }
    let of_complete = evidence
        .books
        .purchases
        .iter()
        .filter(|purchase| evidence.history.complete_for.contains(&purchase.organisation));
    let explained = of_complete.map(|purchase| {
        let about = Some((purchase.subscriber.as_str(), purchase.external_reference.as_deref()));
        let of_key = confirms.get(&(purchase.organisation, about)).into_iter().flatten();
        (purchase, of_key.copied().filter(|exchange| may_explain(exchange, purchase)).collect())
    });
    explained.collect()
}

fn may_explain(exchange: &Exchange, purchase: &Purchase) -> bool {
    let began_before = exchange.invoked_at <= purchase.created_at;
    match exchange.claim() {
        Claim::Bought { id } | Claim::Pending { id: Some(id) } => id == purchase.id,
        Claim::NotBought => began_before && purchase.created_at <= exchange.returned_at,
        Claim::Pending { id: None } | Claim::Failed { .. } | Claim::Absent | Claim::Nothing => began_before,
    }
}

fn of_a_confirm(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    let mut spent: BTreeSet<(i64, i64)> = BTreeSet::new();
    for (purchase, explained_by) in explanations(evidence) {
        // Each confirm explains one purchase. Both lists are ordered by time, so the oldest match is taken.
        let own = explained_by.iter().find(|exchange| !spent.contains(&name_of(exchange)));
        match own {
            Some(exchange) => {
                spent.insert(name_of(exchange));
            }
            None => broken.push(format!(
                "purchase {} for {} was made by none of {} confirms",
                purchase.id,
                purchase.subscriber,
                explained_by.len()
            )),
        }
    }
    broken.extend(bought_twice_under_one_key(evidence));
    broken
}

fn bought_twice_under_one_key(evidence: &Evidence) -> Vec<String> {
    let mut bought: BTreeMap<(i64, &str), Vec<i64>> = BTreeMap::new();
    for purchase in evidence.books.purchases.iter().filter(|purchase| purchase.state == "SUCCESSFUL") {
        if let Some(key) = &purchase.idempotency_key {
            bought.entry((purchase.organisation, key)).or_default().push(purchase.id);
        }
    }
    let twice = bought.into_iter().filter(|(_, ids)| ids.len() > 1);
    twice.map(|((_, key), ids)| format!("the key {key} bought purchase {ids:?}")).collect()
}

/// No two requests of the test clients for one subscriber have the same start and end in microseconds.
fn name_of(exchange: &Exchange) -> (i64, i64) {
    (exchange.invoked_at, exchange.returned_at)
}

fn one_open(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    let mut of_subscriber: BTreeMap<_, Vec<&Purchase>> = BTreeMap::new();
    for purchase in &evidence.books.purchases {
        let key = (purchase.organisation, purchase.product.as_str(), purchase.subscriber.as_str());
        of_subscriber.entry(key).or_default().push(purchase);
    }
    for purchases in of_subscriber.values() {
        for pair in purchases.windows(2) {
            if let [one, two] = pair
                && one.ended_at.is_none_or(|ended| ended > two.created_at)
            {
                broken.push(format!("purchases {} and {} were open at once", one.id, two.id));
            }
        }
    }
    broken.extend(untruly_pending(evidence));
    broken
}

fn untruly_pending(evidence: &Evidence) -> Vec<String> {
    let mut of_subscriber: BTreeMap<(i64, &str), Vec<&Purchase>> = BTreeMap::new();
    for purchase in &evidence.books.purchases {
        of_subscriber.entry((purchase.organisation, &purchase.subscriber)).or_default().push(purchase);
    }
    // A retry closes its reference, and a refused confirm closes its key, for confirms that are in flight.
    let mut closing: BTreeMap<_, Vec<&Exchange>> = BTreeMap::new();
    for exchange in &evidence.history.exchanges {
        if exchange.is_retry() || exchange.is_keyed() {
            closing.entry((exchange.organisation, exchange.about())).or_default().push(exchange);
        }
    }
    let told = evidence.history.exchanges.iter().filter(|exchange| exchange.code() == "transaction_pending");
    let untrue = told.filter(|exchange| {
        let Some((subscriber, _)) = exchange.about() else { return false };
        let mut purchases = of_subscriber.get(&(exchange.organisation, subscriber)).into_iter().flatten();
        let overlapped = purchases.any(|purchase| {
            purchase.created_at <= exchange.returned_at
                && purchase.ended_at.is_none_or(|ended| ended + UNTIL_SEEN >= exchange.invoked_at)
        });
        let mut closing = closing.get(&(exchange.organisation, exchange.about())).into_iter().flatten();
        let was_closed = exchange.is_confirm()
            && closing.any(|other| {
                name_of(other) != name_of(exchange)
                    && (other.is_retry() || exchange.is_keyed())
                    && other.invoked_at <= exchange.returned_at
                    && exchange.invoked_at <= other.returned_at + CLOSED_FOR
            });
        !overlapped && !was_closed
    });
    let complaint = |exchange: &Exchange| {
        format!("{:?} was answered that a purchase was pending, but none was", exchange.call)
    };
    untrue.map(complaint).collect()
}

fn attempts(evidence: &Evidence) -> Vec<String> {
    const REQUESTS_MAX: i64 = 5;
    let mut broken = Vec::new();
    let histories = evidence.books.histories();
    let mut numbered: BTreeMap<i64, Vec<_>> = BTreeMap::new();
    for attempt in &evidence.books.attempts {
        numbered.entry(attempt.purchase).or_default().push(attempt);
    }
    for purchase in &evidence.books.purchases {
        let attempts = numbered.get(&purchase.id).map_or(&[][..], Vec::as_slice);
        let last = attempts.last().map(|attempt| attempt.provider_reference.as_str());
        if last != Some(purchase.provider_reference.as_str()) {
            broken.push(format!("purchase {} has no attempt under its provider reference", purchase.id));
        }
        let is_managed = purchase.handling == "MANAGED";
        if is_managed && purchase.requests > REQUESTS_MAX || !is_managed && attempts.len() > 1 {
            broken.push(format!(
                "purchase {}: {} requests, {} attempts",
                purchase.id,
                purchase.requests,
                attempts.len()
            ));
        }
        if attempts.iter().any(|attempt| attempt.started_at > purchase.window_closes_at) {
            broken.push(format!("purchase {} was attempted after its window", purchase.id));
        }
        let history = histories.get(&purchase.id).map_or(&[][..], Vec::as_slice);
        for pair in history.windows(2) {
            if let [before, started] = pair
                && started.attempt != before.attempt
                && before.state != "RETRY_DUE"
            {
                broken.push(format!(
                    "purchase {} got a new provider reference in state {}",
                    purchase.id, before.state
                ));
            }
        }
    }
    broken
}
