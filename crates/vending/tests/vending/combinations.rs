//! Every combination of what a connection is declared to do, what its provider really does, which side
//! settles doubt, and the outcome of the first order: how the purchase ends when only the worker handles it.
//!
//! The endings are a committed table, `combinations/endings.table`. The tests also check invariants that hold
//! for every row. Where a provider breaks its declaration, the table shows what that costs. Its columns: what
//! the provider does, what its connection is declared to do, whether that is kept, which side settles doubt,
//! and the endings of three orders. The first was vended and its answer was lost, the second was refused and
//! its answer was lost, and the third never arrived.

use std::fs;
use std::path::Path;
use std::time::Duration;

use provider::scripted::NextVend::{NeverArrives, RefusesButReplyIsLost, VendsButReplyIsLost};
use provider::scripted::{Conduct, NextVend};
use purchase::{Handling, PurchaseRequest, Timing};
use vend::{Capabilities, RefusalReason};

use crate::env::{Merchant, Plan, TestEnv, meter};

/// Long enough for everything that depends on the window, and for some looks at purchases in review.
const LONG_ENOUGH: Duration = Duration::from_hours(1);
/// Long enough for the purchases that became due one after another to be worked on together, which is what takes time here.
const PAUSE: Duration = Duration::from_secs(15);

/// What happens to an order.
type Order = fn() -> NextVend;

/// The outcome of the first order.
const ORDERS: [(&str, Order); 3] = [
    ("vended", || VendsButReplyIsLost),
    ("refused", || RefusesButReplyIsLost(RefusalReason::Busy)),
    ("never arrived", || NeverArrives),
];

/// One purchase and its end.
struct Ending {
    handling: Handling,
    order: &'static str,
    state: String,
    requests: u8,
    vends: usize,
    incidents: usize,
}

#[tokio::test]
async fn a_provider_that_answers_repeats_from_memory() {
    ends_as_the_table_says("answers repeats", Conduct::ANSWERS_REPEATS).await;
}

#[tokio::test]
async fn a_provider_that_rejects_repeats() {
    ends_as_the_table_says("rejects repeats", Conduct::REJECTS_REPEATS).await;
}

#[tokio::test]
async fn a_provider_that_only_answers_enquiries() {
    ends_as_the_table_says("only answers enquiries", Conduct::ONLY_ANSWERS_ENQUIRIES).await;
}

#[tokio::test]
async fn a_provider_that_forgets_everything() {
    ends_as_the_table_says("forgets everything", Conduct::FORGETS).await;
}

async fn ends_as_the_table_says(name: &str, conduct: Conduct) {
    let mut rows = Vec::new();
    for declared in declarations() {
        let env = TestEnv::of(Plan { conduct, declared, ..Plan::default() }).await;
        let endings = endings(&env).await;
        let is_true = is_kept(declared, conduct);
        for of_one_account in endings.chunks(ORDERS.len()) {
            for ending in of_one_account {
                ending.is_sound(is_true);
            }
            rows.push(row(name, declared, is_true, of_one_account));
        }
        env.closes_with_vends_checked(is_true).await;
    }
    let committed = include_str!("combinations/endings.table");
    let committed: Vec<&str> = committed.lines().filter(|line| line.starts_with(name)).collect();
    if rows != committed {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("endings of {name}.table"));
        fs::write(&file, rows.join("\n")).unwrap();
        panic!("the endings have changed: compare {}", file.display());
    }
}

/// Every first order on both kinds of account, handled by the worker alone.
async fn endings(env: &TestEnv) -> Vec<Ending> {
    let merchants = [
        (Handling::SelfManaged, env.merchant_with("900.00").await),
        (Handling::Managed, env.managed_merchant_with("900.00").await),
    ];
    let mut made = Vec::new();
    for (handling, merchant) in &merchants {
        for (order, next) in ORDERS {
            env.utility.will([next()]);
            let number = format!("0400000{:04}", made.len());
            leaves_in_doubt(merchant, &number).await;
            made.push((*handling, order, number));
        }
    }
    env.works_for_with_pauses(LONG_ENOUGH, PAUSE).await;
    made.into_iter().map(|(handling, order, number)| ending_of(env, handling, order, &number)).collect()
}

async fn leaves_in_doubt(merchant: &Merchant<'_>, number: &str) {
    let request = PurchaseRequest { subscriber: meter(number), ..merchant.request("10.00") };
    // The answer is unknown or pending.
    let _told = merchant.confirms(request).await;
}

fn ending_of(env: &TestEnv, handling: Handling, order: &'static str, number: &str) -> Ending {
    let kept = env.sql(&format!(
        "SELECT state, requests, (SELECT count(*) FROM incidents WHERE purchase_id = purchases.id)
         FROM purchases WHERE subscriber_identifier = '{number}'"
    ));
    let [state, requests, incidents] = kept.split('|').collect::<Vec<_>>()[..] else { panic!("{kept}") };
    let vends = env.utility.vends().iter().filter(|vended| vended.sale.subscriber == meter(number)).count();
    Ending {
        handling,
        order,
        state: state.to_owned(),
        requests: requests.parse().unwrap(),
        vends,
        incidents: incidents.parse().unwrap(),
    }
}

/// The first orders of one account, and their endings.
fn row(name: &str, declared: Capabilities, is_kept: bool, endings: &[Ending]) -> String {
    let (declared, kept) = (in_words(declared), if is_kept { "kept" } else { "broken" });
    let handling = endings.first().map(|ending| ending.handling.as_str()).unwrap_or_default();
    let endings: Vec<String> = endings.iter().map(Ending::in_words).collect();
    let row = format!("{name:22} | {declared:27} | {kept:6} | {handling:12}");
    endings.iter().fold(row, |row, ending| format!("{row} | {ending:27}")).trim_end().to_owned()
}

impl Ending {
    /// The state, the number of further requests, and the number of vends where the state does not imply it.
    fn in_words(&self) -> String {
        let Self { state, requests, vends, .. } = self;
        let is_told = *vends == usize::from(state == "SUCCESSFUL");
        let sent = if *requests == 0 { String::new() } else { format!(" +{requests}") };
        let vended = if is_told { String::new() } else { format!(", vended {vends}") };
        format!("{state}{sent}{vended}")
    }

    /// The invariants of every combination, and those where the connection does what it is declared to do.
    #[track_caller]
    fn is_sound(&self, is_kept: bool) {
        let row = format!("{}: {}", self.order, self.in_words());
        match self.handling {
            Handling::SelfManaged => assert_eq!(self.requests, 0, "the worker only asks: {row}"),
            Handling::Managed => assert!(self.requests <= Timing::MANAGED_REQUESTS_MAX, "{row}"),
        }
        let allowed = match self.state.as_str() {
            "SUCCESSFUL" => self.vends == 1,
            "FAILED" => self.vends == 0,
            "REVIEW" => self.vends <= 1,
            _ => panic!("it has neither ended nor gone to review: {row}"),
        };
        assert!(allowed || !is_kept, "{row}");
        assert!(self.incidents == 0 || !is_kept, "{row}");
    }
}

fn declarations() -> impl Iterator<Item = Capabilities> {
    (0..8_u8).map(|bits| Capabilities {
        repeat_is_safe: bits & 4 != 0,
        remembers_refusals: bits & 2 != 0,
        not_found_counts: bits & 1 != 0,
        ..Capabilities::NONE
    })
}

fn in_words(declared: Capabilities) -> String {
    let words = [
        (declared.repeat_is_safe, "repeat"),
        (declared.remembers_refusals, "refusals"),
        (declared.not_found_counts, "not-found"),
    ];
    let said: Vec<&str> =
        words.into_iter().filter_map(|(is_declared, word)| is_declared.then_some(word)).collect();
    if said.is_empty() { "nothing".to_owned() } else { said.join(", ") }
}

/// Whether the provider does everything that it is declared to do.
fn is_kept(declared: Capabilities, conduct: Conduct) -> bool {
    let truth = conduct.capabilities();
    [
        (declared.repeat_is_safe, truth.repeat_is_safe),
        (declared.remembers_refusals, truth.remembers_refusals),
        (declared.not_found_counts, truth.not_found_counts),
    ]
    .into_iter()
    .all(|(is_declared, is_true)| is_true || !is_declared)
}
