//! Every list of the API and of the operator: the first page, pages far back, and each filter.

use std::time::Duration;

use back_office::{StatementQuery, account_statement};
use bench::{
    Failure,
    client::{Client, json_text},
    finding::{Finding, Goal, Sample, Unit},
    measurement::Measurement,
    till::Till,
};
use clock::{Clock, SystemClock};
use ledger::AccountId;
use oversight::{OverseenStates, OversightQuery, oversee_purchases};
use vend::SubscriberIdentifier;

use crate::{
    history::{BIG, CARELESS, SAME_REFERENCE},
    side::{Known, Side},
};

/// Pages of each list.
const PAGES: usize = 100;
/// In microseconds.
const PAGE_WITHIN: u128 = 20_000;
/// In microseconds: a day may have ten thousand sales.
const REPORT_WITHIN: u128 = 1_000_000;
const SHORT: &str = "with the short history";
const PURCHASES: &str = "/public/v1/purchases";

/// A list, and how long a page of it may take, in microseconds.
struct List {
    what: String,
    within: u128,
    pages: Measurement,
}

/// The slowest of a hundred pages of each list, but one.
pub async fn measure(short: &Side, long: &Side) -> Result<Vec<Finding>, Failure> {
    let (before, after) = (of_side(short).await?, of_side(long).await?);
    let findings = after.iter().zip(&before).map(|(after, before)| {
        let p99 = |list: &List| Sample::of_percentiles(std::slice::from_ref(&list.pages), 99);
        let page = Finding::new(format!("{}, p99", after.what), Unit::Time, p99(after));
        page.beside(SHORT, p99(before)).must(Goal::Maximum(after.within))
    });
    Ok(findings.collect())
}

impl List {
    fn new(what: impl Into<String>, pages: Measurement) -> Self {
        Self { what: what.into(), within: PAGE_WITHIN, pages }
    }
}

async fn of_side(side: &Side) -> Result<Vec<List>, Failure> {
    let known = side.sample(BIG, PAGES)?;
    let till = side.log_in(BIG).await?;
    let far = far_cursors(side, &till, &known).await?;
    let api: [(&str, Vec<String>); 10] = [
        ("first page", repeated("?limit=20".to_owned())),
        ("a page from anywhere in the year", all(&known, |past| format!("?limit=20&to={}", time(past)))),
        ("the page after it, by its cursor", far),
        (
            "of a subscriber",
            all(&known, |past| format!("?limit=20&subscriber_identifier={}", past.subscriber)),
        ),
        (
            "of an external reference",
            all(&known, |past| format!("?limit=20&external_reference={}", past.reference)),
        ),
        (
            "of a subscriber and a reference",
            all(&known, |past| {
                format!("?subscriber_identifier={}&external_reference={}", past.subscriber, past.reference)
            }),
        ),
        ("failed, from anywhere", all(&known, |past| format!("?limit=20&status=FAILED&to={}", time(past)))),
        ("pending", repeated("?limit=20&status=PENDING".to_owned())),
        (
            "successful, from anywhere",
            all(&known, |past| format!("?limit=20&status=SUCCESSFUL&to={}", time(past))),
        ),
        ("one purchase", all(&known, |past| format!("/{}", past.id))),
    ];
    let mut lists = Vec::new();
    for (what, queries) in api {
        let paths = queries.iter().map(|query| format!("{PURCHASES}{query}"));
        lists.push(List::new(format!("list of 20: {what}"), pages(side, &till, paths).await?));
    }
    let careless = side.log_in(CARELESS).await?;
    let same = repeated(format!("{PURCHASES}?limit=20&external_reference={SAME_REFERENCE}"));
    let what = "list of 20: of a reference that all purchases of an organisation have";
    lists.push(List::new(what, pages(side, &careless, same.into_iter()).await?));
    let wallet = busiest_wallet(side)?.0;
    let days = |path: &str| all(&known, |past| format!("{path}from={0}&to={0}", past.day()));
    let statements = days(&format!("/public/v1/accounts/{wallet}/statement?limit=20&"));
    lists.push(List::new(
        "statement of a day, from anywhere",
        pages(side, &till, statements.into_iter()).await?,
    ));
    let sales = pages(side, &till, days("/public/v1/reports/sales?").into_iter()).await?;
    lists.push(List {
        within: REPORT_WITHIN,
        ..List::new("report of the sales of a day, from anywhere", sales)
    });
    for (what, path) in [("accounts", "/public/v1/accounts"), ("products", "/public/v1/vas-products")] {
        lists.push(List::new(what, pages(side, &till, repeated(path.to_owned()).into_iter()).await?));
    }
    lists.extend(of_the_operator(side, &known).await?);
    Ok(lists)
}

/// The cursors of pages that begin anywhere.
async fn far_cursors(side: &Side, till: &Till, known: &[Known]) -> Result<Vec<String>, Failure> {
    let mut client = Client::connect(side.address()).await?;
    let mut queries = Vec::new();
    for past in known {
        let answer = client.exchange(&till.read(&format!("{PURCHASES}?limit=20&to={}", time(past)))).await?;
        // Before the first purchases of the year there are no others.
        if let Some(cursor) = json_text(&answer.body, "next_cursor") {
            queries.push(format!("?cursor={cursor}"));
        }
    }
    Ok(queries)
}

async fn pages(
    side: &Side,
    till: &Till,
    paths: impl Iterator<Item = String>,
) -> Result<Measurement, Failure> {
    let mut client = Client::connect(side.address()).await?;
    let began = SystemClock.monotonic();
    let mut latencies = Vec::new();
    for path in paths {
        let started = SystemClock.monotonic();
        let answer = client.exchange(&till.read(&path)).await?;
        latencies.push(SystemClock.monotonic().elapsed_since(started));
        if answer.status != 200 {
            return Err(format!("{path} was answered {}: {}", answer.status, answer.body).into());
        }
    }
    if latencies.is_empty() {
        return Err("a list has no pages to measure".into());
    }
    Ok(Measurement::new(SystemClock.monotonic().elapsed_since(began), latencies))
}

/// What `vendctl` lists.
async fn of_the_operator(side: &Side, known: &[Known]) -> Result<Vec<List>, Failure> {
    let database = side.store().database();
    let wallet = busiest_wallet(side)?;
    let mut lists: [(&str, Vec<Duration>); 6] = [
        ("vendctl: newest purchases of all organisations", Vec::new()),
        ("vendctl: purchases in review", Vec::new()),
        ("vendctl: purchases of a subscriber", Vec::new()),
        ("vendctl: purchases of a reference", Vec::new()),
        ("vendctl: statement of the busiest wallet", Vec::new()),
        ("vendctl: its statement from anywhere", Vec::new()),
    ];
    let entries = side.asks("SELECT min(entry_id), max(entry_id) FROM postings")?;
    let (first, last) = entries.split_once('|').ok_or("there are no postings")?;
    let (first, last): (i64, i64) = (first.parse()?, last.parse()?);
    for (number, past) in (1_i64..).zip(known) {
        let newest = OversightQuery::newest(20);
        let review = OversightQuery { states: OverseenStates::Review, ..newest.clone() };
        let subscriber = Some(SubscriberIdentifier::parse(&past.subscriber)?);
        let subscriber = OversightQuery { subscriber, ..newest.clone() };
        let reference = OversightQuery { external_reference: Some(past.reference.clone()), ..newest.clone() };
        let [all, in_review, of_subscriber, of_reference, statement, far] = &mut lists;
        for (query, (_what, latencies)) in [newest, review, subscriber, reference].into_iter().zip([
            all,
            in_review,
            of_subscriber,
            of_reference,
        ]) {
            let started = SystemClock.monotonic();
            oversee_purchases(database, query).await?;
            latencies.push(SystemClock.monotonic().elapsed_since(started));
        }
        let anywhere = first.saturating_add(last.saturating_sub(first).saturating_mul(number) / 100);
        for (before, (_what, latencies)) in [None, Some(anywhere)].into_iter().zip([statement, far]) {
            let started = SystemClock.monotonic();
            account_statement(
                database,
                StatementQuery { account: wallet, before, since: None, until: None, limit: 20 },
            )
            .await?;
            latencies.push(SystemClock.monotonic().elapsed_since(started));
        }
    }
    let measured = lists.into_iter();
    Ok(measured.map(|(what, took)| List::new(what, Measurement::new(Duration::ZERO, took))).collect())
}

fn busiest_wallet(side: &Side) -> Result<AccountId, Failure> {
    let wallet = side.merchants.get(BIG).and_then(|merchant| merchant.wallets.first());
    Ok(AccountId(wallet.ok_or("the merchant has no wallet")?.0))
}

fn repeated(query: String) -> Vec<String> {
    vec![query; PAGES]
}

fn all(known: &[Known], query: impl Fn(&Known) -> String) -> Vec<String> {
    known.iter().map(query).collect()
}

/// A time as a query spells it.
fn time(past: &Known) -> String {
    past.at.replace(' ', "%20")
}
