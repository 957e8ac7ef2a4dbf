//! The books of the whole town, against each other and against the utility's own log. They must be in order at
//! every moment, so every test that ends looks at them, whatever the others are doing.

use std::{collections::BTreeMap, fs};

use serde::Deserialize;

use crate::town::town;

/// Each with a query that finds whatever breaks it.
const LAWS: &[(&str, &str)] = &[
    (
        "a wallet's balance is the sum of its postings",
        "SELECT a.id FROM accounts a WHERE a.house IS NULL AND a.posted <>
            (SELECT coalesce(sum(amount), 0) FROM postings WHERE credit_account_id = a.id) -
            (SELECT coalesce(sum(amount), 0) FROM postings WHERE debit_account_id = a.id)",
    ),
    (
        "what is held is what the open purchases cost",
        "SELECT a.id FROM accounts a WHERE a.house IS NULL AND a.held <>
            (SELECT coalesce(sum(total), 0) FROM purchases p WHERE p.account_id = a.id AND p.ended_at IS NULL)",
    ),
    (
        "a purchase is settled exactly when it is successful, and once",
        "SELECT p.id FROM purchases p LEFT JOIN journal_entries e ON e.purchase_id = p.id AND e.kind = 'SETTLE'
         GROUP BY p.id, p.state HAVING count(e.id) <> CASE p.state WHEN 'SUCCESSFUL' THEN 1 ELSE 0 END",
    ),
    (
        "a settlement takes the total from the wallet and gives the commission",
        "SELECT p.id FROM purchases p JOIN journal_entries e ON e.purchase_id = p.id AND e.kind = 'SETTLE'
         WHERE p.total <> (SELECT sum(amount) FROM postings WHERE entry_id = e.id AND debit_account_id = p.account_id)
            OR p.commission <> (SELECT coalesce(sum(amount), 0) FROM postings
                                WHERE entry_id = e.id AND credit_account_id = p.commission_account_id)",
    ),
    (
        "debits and credits of the journal are the same amount of the same money",
        "SELECT o.entry_id FROM postings o JOIN accounts d ON d.id = o.debit_account_id
         JOIN accounts c ON c.id = o.credit_account_id WHERE o.currency <> d.currency OR o.currency <> c.currency",
    ),
    (
        "every purchase has an attempt under the reference that it names",
        "SELECT p.id FROM purchases p WHERE NOT EXISTS (
            SELECT FROM attempts t WHERE t.purchase_id = p.id AND t.provider_reference = p.provider_reference)",
    ),
    ("nothing happened that opens an incident", "SELECT purchase_id FROM incidents"),
];

/// A line of the utility's log.
#[derive(Clone, Debug, Deserialize)]
struct VendLine {
    product_type: String,
    reference: String,
    subscriber: String,
    amount: String,
    currency: String,
    tokens: Vec<String>,
    outcome: String,
}

/// A reference is a provider's, and here each product has one provider.
type Name = (String, String);

/// An attempt, with the purchase that it belongs to.
struct Attempt {
    purchase: i64,
    name: Name,
    state: String,
    subscriber: String,
    amount: String,
}

/// Fails if the books are not in order, or if a purchase was answered with other tokens than were vended for it.
pub fn check(answered: &[(i64, Vec<String>)]) {
    check_laws();
    // What is successful now must be in the log by now, and what is in the log by then must have been reserved.
    let successful = attempts("AND p.state = 'SUCCESSFUL' AND t.provider_reference = p.provider_reference");
    let vended = vended();
    let all = attempts("");
    for attempt in &successful {
        let vend =
            vended.get(&attempt.name).unwrap_or_else(|| panic!("{} was never vended", attempt.purchase));
        assert_eq!((&vend.subscriber, &vend.amount), (&attempt.subscriber, &attempt.amount), "{vend:?}");
        assert_eq!(vend.currency, "BWP");
    }
    let mut purchases = Vec::new();
    for (name, vend) in &vended {
        let attempt = all.iter().find(|attempt| attempt.name == *name);
        let attempt = attempt.unwrap_or_else(|| panic!("nobody ordered {vend:?}"));
        assert_ne!(attempt.state, "FAILED", "vended, and called failed: {vend:?}");
        purchases.push(attempt.purchase);
    }
    let vends = purchases.len();
    purchases.sort_unstable();
    purchases.dedup();
    assert_eq!(purchases.len(), vends, "a purchase was vended twice");
    for (purchase, tokens) in answered {
        let attempt = successful.iter().find(|attempt| attempt.purchase == *purchase).unwrap();
        assert_eq!(&vended[&attempt.name].tokens, tokens, "purchase {purchase}");
    }
}

fn check_laws() {
    let queries = LAWS.iter().map(|(law, query)| format!("SELECT $law${law}$law$, t.* FROM ({query}) AS t"));
    let broken = town().asks_the_database(&queries.collect::<Vec<_>>().join(" UNION ALL "));
    assert!(broken.is_empty(), "the books are not in order:\n{broken}");
}

fn vended() -> BTreeMap<Name, VendLine> {
    let log = fs::read_to_string(town().sandbox.vend_log()).unwrap();
    // The last line may be being written.
    let whole = log.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let lines = whole.lines().map(|line| serde_json::from_str::<VendLine>(line).unwrap());
    let mut vended = BTreeMap::new();
    for line in lines.filter(|line| line.outcome == "vended") {
        let again = vended.insert((line.product_type.clone(), line.reference.clone()), line);
        assert!(again.is_none(), "two vends under one reference: {again:?}");
    }
    vended
}

fn attempts(condition: &str) -> Vec<Attempt> {
    let rows = town().asks_the_database(&format!(
        "SELECT p.id, p.product, t.provider_reference, p.state, p.subscriber_identifier,
            p.net / 100 || '.' || lpad((p.net % 100)::text, 2, '0')
         FROM purchases p JOIN attempts t ON t.purchase_id = p.id WHERE true {condition}"
    ));
    let attempt = |row: &str| {
        let fields: Vec<&str> = row.split('|').collect();
        let text = |index: usize| fields[index].to_owned();
        Attempt {
            purchase: fields[0].parse().unwrap(),
            name: (text(1), text(2)),
            state: text(3),
            subscriber: text(4),
            amount: text(5),
        }
    };
    rows.lines().map(attempt).collect()
}
