//! Money: balances, holds, and sums.

use std::collections::BTreeMap;

use crate::checker::{Books, Evidence, Exchange, Invariant, Purchase, Reply};

pub(in crate::checker) const I5: Invariant = Invariant {
    id: "I5",
    sentence: "a balance is the sum of its postings and was never below zero, and a settlement takes what the purchase cost",
    broken_by: balances,
};

pub(in crate::checker) const I6: Invariant = Invariant {
    id: "I6",
    sentence: "what is held is what the open purchases cost, at every moment",
    broken_by: holds,
};

pub(in crate::checker) const I16: Invariant = Invariant {
    id: "I16",
    sentence: "amounts add up to the minor unit, in the books and in every answer",
    broken_by: sums,
};

fn balances(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    let mut sums: BTreeMap<i64, i64> = BTreeMap::new();
    let books = &evidence.books;
    for posting in &books.postings {
        let [own, debit, credit] = &posting.currencies;
        if own != debit || own != credit || posting.amount <= 0 {
            broken.push(format!(
                "entry {} does not move a positive amount in one currency: {posting:?}",
                posting.entry
            ));
        }
        let debited = sums.entry(posting.debit).or_default();
        *debited -= posting.amount;
        if *debited < 0 && posting.system_accounts.first().is_some_and(Option::is_none) {
            broken.push(format!("entry {} took account {} below zero", posting.entry, posting.debit));
        }
        *sums.entry(posting.credit).or_default() += posting.amount;
    }
    for wallet in &books.wallets {
        let sum = sums.get(&wallet.id).copied().unwrap_or(0);
        if wallet.posted != sum {
            broken.push(format!(
                "account {} has {} posted, but its postings sum to {sum}",
                wallet.id, wallet.posted
            ));
        }
    }
    for carried in &books.carried {
        let sum = sums.get(&carried.account).copied().unwrap_or(0);
        if carried.balance != sum {
            broken.push(format!(
                "system account {} has {} by its trial balance, but its postings sum to {sum}",
                carried.account, carried.balance
            ));
        }
    }
    broken.extend(settlements(books));
    broken
}

fn settlements(books: &Books) -> Vec<String> {
    let mut broken = Vec::new();
    for (purchase, postings) in books.settlements() {
        let Some(purchase) = books.purchase(purchase) else { continue };
        let mut moved: BTreeMap<(i64, &str), i64> = BTreeMap::new();
        for posting in &postings {
            if let [None, Some(system_account)] = &posting.system_accounts {
                *moved.entry((posting.debit, system_account)).or_default() += posting.amount;
            } else if let [Some(system_account), None] = &posting.system_accounts {
                *moved.entry((posting.credit, system_account)).or_default() += posting.amount;
            } else {
                broken.push(format!("purchase {} was settled by {posting:?}", purchase.id));
            }
        }
        let due = [
            (purchase.account, "PROVIDER_PAYABLE", purchase.net),
            (purchase.account, "FEE_INCOME", purchase.charge),
            (purchase.commission_account.unwrap_or(0), "COMMISSION_EXPENSE", purchase.commission),
        ];
        let due = due.into_iter().filter(|(.., amount)| *amount != 0);
        let due: BTreeMap<(i64, &str), i64> =
            due.map(|(account, system_account, amount)| ((account, system_account), amount)).collect();
        if moved != due {
            broken.push(format!(
                "purchase {} should be settled by {due:?}, but was settled by {moved:?}",
                purchase.id
            ));
        }
    }
    broken
}

fn holds(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    for books in [&evidence.earlier, &evidence.books] {
        let mut open: BTreeMap<i64, i64> = BTreeMap::new();
        for purchase in books.purchases.iter().filter(|purchase| purchase.is_open()) {
            *open.entry(purchase.account).or_default() += purchase.total;
        }
        for wallet in &books.wallets {
            let open = open.get(&wallet.id).copied().unwrap_or(0);
            if wallet.held != open {
                broken.push(format!(
                    "account {} holds {}, but its open purchases cost {open}",
                    wallet.id, wallet.held
                ));
            }
            if wallet.posted < wallet.held {
                broken.push(format!("account {} holds more than it has", wallet.id));
            }
        }
    }
    for sample in evidence.holds.iter().filter(|sample| sample.held != sample.open) {
        broken.push(format!("during the fault injection: {sample:?}"));
    }
    broken
}

fn sums(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    for purchase in &evidence.books.purchases {
        let on_top = purchase.net == purchase.entry;
        let deducted = purchase.total == purchase.entry;
        if purchase.total != purchase.net + purchase.charge || !(on_top || deducted) {
            broken.push(format!("the amounts of purchase {} do not add up", purchase.id));
        }
    }
    // Only these answers show a purchase. The id of an account may have the number of a purchase.
    let shows_purchase = |exchange: &&Exchange| exchange.is_confirm() || exchange.is_retry();
    let shown = evidence.history.exchanges.iter().filter(shows_purchase);
    for reply in shown.filter_map(|exchange| exchange.reply.as_ref()) {
        let Some(purchase) = reply.id().and_then(|id| evidence.books.purchase(id)) else { continue };
        broken.extend(shown_amounts(purchase, reply));
    }
    broken
}

fn shown_amounts(purchase: &Purchase, reply: &Reply) -> Option<String> {
    let text = |name: &str| reply.body.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
    let amounts = [
        ("total", purchase.total),
        ("net", purchase.net),
        ("charge", purchase.charge),
        ("commission", purchase.commission),
        ("entry", purchase.entry),
    ];
    let wrong = amounts.iter().find(|(name, amount)| minor(text(name), &purchase.currency) != Some(*amount));
    if let Some((name, _)) = wrong {
        return Some(format!("purchase {} was answered with {name} {:?}", purchase.id, text(name)));
    }
    let parts = ["cost", "vat", "levy", "regulatory_fee", "charge"];
    let parts = parts.map(|name| reply.body.pointer(&format!("/metadata/{name}")));
    let told: Vec<i64> = parts
        .into_iter()
        .flatten()
        .filter_map(|part| minor(part.as_str().unwrap_or_default(), &purchase.currency))
        .collect();
    let adds_up = told.is_empty() || told.iter().sum::<i64>() == purchase.net;
    (!adds_up).then(|| format!("the metadata of purchase {} does not add up to its net", purchase.id))
}

/// Parses `BWP 100.00` into hundredths.
pub(super) fn minor(wire: &str, currency: &str) -> Option<i64> {
    let (whole, fraction) = wire.strip_prefix(currency)?.strip_prefix(' ')?.split_once('.')?;
    if fraction.len() == 2 { format!("{whole}{fraction}").parse().ok() } else { None }
}
