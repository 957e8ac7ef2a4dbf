//! Answers to clients, compared with the database.

use std::collections::{BTreeMap, BTreeSet};

use super::orders::explanations;
use crate::{
    checker::{Claim, Evidence, Exchange, Invariant, Purchase, Reply},
    surface::Surface,
};

pub(in crate::checker) const I7: Invariant =
    Invariant { id: "I7", sentence: "a definite answer is true, and stays true", broken_by: truthful };

pub(in crate::checker) const I8: Invariant = Invariant {
    id: "I8",
    sentence: "two final answers about one purchase are the same answer",
    broken_by: stable,
};

fn truthful(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    for exchange in &evidence.history.exchanges {
        let untrue = match exchange.claim() {
            Claim::Bought { id } => untrue_success(evidence, exchange, id),
            Claim::Pending { id: Some(id) } => unknown_purchase(evidence, exchange, id),
            Claim::Failed { .. } => untrue_failure(evidence, exchange),
            Claim::Absent => untrue_absence(evidence, exchange),
            // A confirm that was told "nothing bought" must not explain a purchase that was paid for: see below.
            Claim::NotBought | Claim::Pending { id: None } | Claim::Nothing => None,
        };
        broken.extend(untrue);
    }
    for (purchase, explained_by) in explanations(evidence) {
        let promised_away = explained_by.iter().all(|exchange| exchange.claim() == Claim::NotBought);
        if promised_away && purchase.state == "SUCCESSFUL" && !explained_by.is_empty() {
            broken.push(format!(
                "purchase {} was paid for, but the answer said that nothing was bought: {:?}",
                purchase.id,
                explained_by.first().map(|exchange| exchange.code())
            ));
        }
    }
    broken
}

fn untrue_success(evidence: &Evidence, exchange: &Exchange, id: i64) -> Option<String> {
    let purchase = evidence.books.purchase(id);
    let is_so = purchase.is_some_and(|purchase| {
        purchase.state == "SUCCESSFUL"
            && purchase.organisation == exchange.organisation
            && exchange.about().is_none_or(|about| about == about_of(purchase))
    });
    (!is_so).then(|| format!("purchase {id} was answered as successful, but it is {purchase:?}"))
}

fn unknown_purchase(evidence: &Evidence, exchange: &Exchange, id: i64) -> Option<String> {
    let purchase = evidence.books.purchase(id);
    let is_known = purchase.is_some_and(|purchase| purchase.organisation == exchange.organisation);
    (!is_known).then(|| format!("purchase {id} was answered as pending, but it does not exist"))
}

/// The newest purchase of the reference must have failed at some moment between request and answer.
fn untrue_failure(evidence: &Evidence, exchange: &Exchange) -> Option<String> {
    let of_reference = of_reference(evidence, exchange);
    let before = of_reference.iter().rev().find(|purchase| purchase.created_at <= exchange.invoked_at);
    let during = of_reference
        .iter()
        .filter(|purchase| (exchange.invoked_at..=exchange.returned_at).contains(&purchase.created_at));
    let had_failed = |purchase: &&&Purchase| {
        purchase.state == "FAILED" && purchase.ended_at.is_some_and(|ended| ended <= exchange.returned_at)
    };
    let is_so = before.into_iter().chain(during).any(|purchase| had_failed(&purchase));
    (!is_so).then(|| {
        format!("{:?} was answered with a failure, but there was none: {of_reference:?}", exchange.call)
    })
}

/// An absence is true if no purchase exists, and no confirm that was in flight by then makes one.
fn untrue_absence(evidence: &Evidence, exchange: &Exchange) -> Option<String> {
    let of_reference = of_reference(evidence, exchange);
    let hidden = of_reference.iter().find(|purchase| {
        let was_there = purchase.created_at <= exchange.invoked_at;
        let came_of_a_later_confirm = evidence.history.exchanges.iter().any(|other| {
            other.is_confirm()
                && other.organisation == exchange.organisation
                && other.about() == exchange.about()
                && (exchange.invoked_at..=purchase.created_at).contains(&other.invoked_at)
        });
        was_there
            || !came_of_a_later_confirm && evidence.history.complete_for.contains(&purchase.organisation)
    });
    hidden.map(|purchase| format!("{:?} was answered that there is no purchase: {purchase:?}", exchange.call))
}

fn of_reference<'a>(evidence: &'a Evidence, exchange: &Exchange) -> Vec<&'a Purchase> {
    let about = exchange.about();
    let of = evidence.books.purchases.iter().filter(|purchase| {
        purchase.organisation == exchange.organisation && Some(about_of(purchase)) == about
    });
    of.collect()
}

fn about_of(purchase: &Purchase) -> (&str, Option<&str>) {
    (&purchase.subscriber, purchase.external_reference.as_deref())
}

fn stable(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    let mut first: BTreeMap<i64, BTreeMap<Surface, &Reply>> = BTreeMap::new();
    for exchange in &evidence.history.exchanges {
        let (Claim::Bought { id }, Some(reply)) = (exchange.claim(), &exchange.reply) else { continue };
        let told = first.entry(id).or_default().entry(exchange.surface).or_insert(reply);
        if told.body != reply.body {
            broken.push(format!("purchase {id} was answered with {} and with {}", told.text, reply.text));
        }
    }
    broken.extend(first.iter().filter_map(|(id, told)| told_otherwise(*id, told)));
    broken.extend(failed_for_two_reasons(evidence));
    broken
}

/// The values of a purchase that differ between the two surfaces.
fn told_otherwise(id: i64, told: &BTreeMap<Surface, &Reply>) -> Option<String> {
    let [v1, current] =
        Surface::ALL.map(|surface| told.get(&surface).map(|reply| surface.shown(&reply.body)));
    let (v1, current) = (v1?, current?);
    let differ = |name: &&&str| v1.get(**name) != current.get(**name);
    let differing: BTreeSet<&&str> = v1.keys().chain(current.keys()).filter(differ).collect();
    let complaint =
        || format!("purchase {id} has another {differing:?} on each surface: {v1:?} and {current:?}");
    (!differing.is_empty()).then(complaint)
}

/// The reasons as retries report them. A confirm reports what it saw itself, a retry reports what is stored. This
/// looks only at references that have one purchase.
fn failed_for_two_reasons(evidence: &Evidence) -> Vec<String> {
    let mut reasons: BTreeMap<i64, BTreeSet<String>> = BTreeMap::new();
    for exchange in &evidence.history.exchanges {
        let Claim::Failed { code } = exchange.claim() else { continue };
        if let [purchase] = of_reference(evidence, exchange).as_slice() {
            reasons.entry(purchase.id).or_default().insert(code);
        }
    }
    let several = reasons.into_iter().filter(|(_, codes)| codes.len() > 1);
    several
        .map(|(id, codes)| format!("purchase {id} was answered with several failure codes: {codes:?}"))
        .collect()
}
