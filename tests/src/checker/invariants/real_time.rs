//! Later requests see the effects of earlier answers.

use std::collections::BTreeMap;

use super::{money::minor, orders::UNTIL_SEEN};
use crate::checker::{Call, Claim, Evidence, Exchange, Invariant};

pub(in crate::checker) const I9: Invariant = Invariant {
    id: "I9",
    sentence: "a request after an answered success sees it, in the purchase and in the balance",
    broken_by: in_order_of_time,
};

fn in_order_of_time(evidence: &Evidence) -> Vec<String> {
    let mut broken = forgotten(evidence);
    let first = first_answers(evidence);
    let balances = evidence.history.exchanges.iter();
    broken.extend(balances.filter_map(|exchange| impossible_balance(evidence, &first, exchange)));
    broken
}

/// Retries that do not show a purchase that was answered as bought before.
fn forgotten(evidence: &Evidence) -> Vec<String> {
    let mut by_reference: BTreeMap<_, Vec<&Exchange>> = BTreeMap::new();
    for exchange in evidence.history.exchanges.iter().filter(|exchange| exchange.about().is_some()) {
        by_reference.entry((exchange.organisation, exchange.about())).or_default().push(exchange);
    }
    let mut broken = Vec::new();
    for exchanges in by_reference.values() {
        for later in exchanges.iter().filter(|exchange| exchange.is_retry()) {
            let mut before = exchanges.iter().filter(|earlier| earlier.returned_at < later.invoked_at);
            let known = before.find_map(|earlier| {
                let Claim::Bought { id } = earlier.claim() else { return None };
                Some((earlier, id))
            });
            let Some((earlier, id)) = known else { continue };
            let bought_again = exchanges.iter().any(|other| {
                other.is_confirm() && !std::ptr::eq(*other, *earlier) && other.invoked_at <= later.returned_at
            });
            let sees_it = matches!(later.claim(), Claim::Bought { id: seen } if seen == id)
                || later.claim() == Claim::Nothing;
            if !sees_it && !bought_again {
                broken
                    .push(format!("purchase {id} was answered as bought, but later as {:?}", later.claim()));
            }
        }
    }
    broken
}

/// The time at which each purchase was first answered as bought.
fn first_answers(evidence: &Evidence) -> BTreeMap<i64, i64> {
    let mut first: BTreeMap<i64, i64> = BTreeMap::new();
    for exchange in &evidence.history.exchanges {
        if let Claim::Bought { id } = exchange.claim() {
            let at = first.entry(id).or_insert(exchange.returned_at);
            *at = exchange.returned_at.min(*at);
        }
    }
    first
}

/// Reports a balance that no order of the known requests can explain.
fn impossible_balance(
    evidence: &Evidence,
    first: &BTreeMap<i64, i64>,
    exchange: &Exchange,
) -> Option<String> {
    let Call::Balance { account } = exchange.call else { return None };
    if !evidence.history.complete_for.contains(&exchange.organisation) {
        return None;
    }
    let reply = exchange.reply.as_ref().filter(|reply| reply.status == 200)?;
    let shown = minor(exchange.surface.balance(&reply.body, account)?, "BWP")?;
    let paid_in = |posting: &&crate::checker::Posting| posting.credit == account && posting.kind != "SETTLE";
    let full: i64 = evidence.books.postings.iter().filter(paid_in).map(|posting| posting.amount).sum();
    let answered = |id: i64| first.get(&id).is_some_and(|at| *at < exchange.invoked_at);
    let (mut least_spent, mut most_spent) = (0, 0);
    for purchase in evidence.books.purchases.iter().filter(|purchase| purchase.account == account) {
        if answered(purchase.id) {
            least_spent += purchase.total;
        }
        let ended_before = |ended| ended + UNTIL_SEEN < exchange.invoked_at;
        let was_given_back = purchase.state == "FAILED" && purchase.ended_at.is_some_and(ended_before);
        if purchase.created_at <= exchange.returned_at && !was_given_back {
            most_spent += purchase.total;
        }
    }
    let possible = full - most_spent..=full - least_spent;
    (!possible.contains(&shown))
        .then(|| format!("account {account} showed {shown}, but only {possible:?} is possible"))
}
