//! Trial balances and the reports that lie between them: they are what plain sums over the whole journal say, whatever happens
//! meanwhile.

use std::{collections::BTreeMap, time::Duration};

use back_office::{
    BookCause, BookMove, BookPart, CheckProgress, Movement, Payee, Payout, report_books, report_sales,
};
use chrono::{DateTime, NaiveDate, Utc};
use database::DatabaseError;
use ledger::{AccountId, SystemAccount};
use money::Money;
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use purchase::{DaySales, Event, Period, ReportedDay};

use crate::{
    env::{FIRST, Merchant, PROVIDER, TestEnv, act, pula, vended},
    statements::now,
};

#[derive(Clone, Copy, Debug)]
enum Step {
    Sale(i64),
    LateVend,
    UnmatchedVend(i64),
    Correction(i64),
    ToProvider(i64),
    Fees(i64),
    Commission(i64),
    /// The last payout beside wallets is undone.
    Undo,
    /// A day ends; `true` if its trial balance is made at once.
    Moment(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (200_i64..900).prop_map(Step::Sale),
        1 => Just(Step::LateVend),
        2 => (1_i64..500).prop_map(Step::UnmatchedVend),
        1 => (1_i64..300).prop_map(Step::Correction),
        2 => (1_i64..900).prop_map(Step::ToProvider),
        2 => (1_i64..200).prop_map(Step::Fees),
        2 => (1_i64..100).prop_map(Step::Commission),
        1 => Just(Step::Undo),
        4 => any::<bool>().prop_map(Step::Moment),
    ];
    prop::collection::vec(step, 60..80)
}

impl TestEnv {
    fn commission_wallet(&self, merchant: &Merchant) -> AccountId {
        let organisation = merchant.authority.organisation.0;
        let wallet = format!("category = 'COMMISSION' AND organisation_id = {organisation}");
        AccountId(self.sql(&format!("SELECT id FROM accounts WHERE {wallet}")).parse().unwrap())
    }

    fn enters_unmatched_vend(&self, number: usize, minor: i64) {
        self.sql(&entering(number, minor));
    }

    async fn pays_out(&self, payee: Payee, minor: i64, number: usize) -> Option<i64> {
        let payout = Payout { payee, amount: pula(minor), reference: format!("BANK-{number}") };
        let paid = back_office::pay_out(self.operator.database(), payout, false, act()).await;
        paid.ok().and_then(|paid| paid.posted).map(|(entry, _)| entry)
    }

    /// The number of the payout that the step has posted, if it did.
    async fn takes(&self, merchant: &Merchant, step: Step, number: usize, last: Option<i64>) -> Option<i64> {
        let meter = format!("{:011}", 4_257_600_000_usize + number);
        let (database, wallet) = (self.operator.database(), self.commission_wallet(merchant));
        match step {
            Step::Sale(net) => {
                let (order, _) = self.reserved(merchant, &meter, net).await;
                self.records(&order, vended(&format!("V{number}"), net)).await;
            }
            Step::LateVend => {
                let (order, _) = self.reserved(merchant, &meter, 700).await;
                self.records(&order, Event::NeverSent { fence: FIRST }).await;
                self.records(&order, vended(&format!("V{number}"), 700)).await;
            }
            Step::UnmatchedVend(minor) => self.enters_unmatched_vend(number, minor),
            Step::Correction(minor) => {
                let movement = Movement::AdjustUp(SystemAccount::Suspense);
                let payment = back_office::Payment { wallet, movement, amount: pula(minor), reference: None };
                back_office::pay(database, payment, act()).await.unwrap();
            }
            Step::ToProvider(minor) => {
                let payee = Payee::Provider(PROVIDER.to_owned());
                return self.pays_out(payee, minor, number).await;
            }
            Step::Fees(minor) => return self.pays_out(Payee::Operator, minor, number).await,
            Step::Commission(minor) => {
                let (movement, reference) = (Movement::PayOut, Some(format!("BANK-{number}")));
                let payment = back_office::Payment { wallet, movement, amount: pula(minor), reference };
                let paid = back_office::pay(database, payment, act()).await;
                if let (Ok(paid), true) = (paid, number.is_multiple_of(3)) {
                    back_office::reverse_payment(database, paid.entry, false, act()).await.unwrap();
                }
            }
            Step::Undo => {
                if let Some(entry) = last {
                    back_office::reverse_payout(database, entry, false, act()).await.unwrap();
                }
                return None;
            }
            Step::Moment(_) => {}
        }
        last
    }

    /// The balances of the system accounts by the plain sum of what was posted before a moment.
    fn counted(&self, at: DateTime<Utc>) -> String {
        self.sql(&format!(
            "SELECT a.house, CASE a.house WHEN 'PROVIDER_PAYABLE' THEN coalesce(p.provider_code, u.provider_code, o.provider_code)
                 END, sum(s.amount)
             FROM journal_entries e JOIN postings m ON m.entry_id = e.id
             CROSS JOIN LATERAL (VALUES (m.credit_account_id, m.amount), (m.debit_account_id, -m.amount)) s (id, amount)
             JOIN accounts a ON a.id = s.id AND a.house IS NOT NULL
             LEFT JOIN purchases p ON p.id = e.purchase_id
             LEFT JOIN unmatched_vends u ON u.entry_id = e.id
             LEFT JOIN payouts o ON o.entry_id = e.id
             WHERE e.posted_at < '{at}' GROUP BY 1, 2 ORDER BY 1, 2"
        ))
    }

    fn struck(&self, at: DateTime<Utc>) -> String {
        self.sql(&format!(
            "SELECT a.house, nullif(l.provider_code, ''), l.balance FROM trial_balance_lines l
             JOIN accounts a ON a.id = l.account_id WHERE l.at = '{at}' ORDER BY 1, 2"
        ))
    }

    /// What moved a part of the books between two moments, by kind, by the plain sum.
    fn moved(&self, part: BookPart, day: &ReportedDay) -> String {
        let account = match part {
            BookPart::Payable => "a.house = 'PROVIDER_PAYABLE'",
            BookPart::Fees => "a.house = 'FEE_INCOME'",
            BookPart::Commission => "a.category = 'COMMISSION'",
        };
        self.sql(&format!(
            "SELECT CASE WHEN e.kind = 'ADJUST' AND EXISTS (SELECT FROM payouts o WHERE o.entry_id IN (e.id,
                     (SELECT r.entry_id FROM reversals r WHERE r.reversed_by = e.id))) THEN 'PAYOUT' ELSE e.kind END AS kind,
                 coalesce(p.provider_code, u.provider_code, o.provider_code), sum(s.amount)
             FROM journal_entries e JOIN postings m ON m.entry_id = e.id
             CROSS JOIN LATERAL (VALUES (m.credit_account_id, m.amount), (m.debit_account_id, -m.amount)) s (id, amount)
             JOIN accounts a ON a.id = s.id AND {account}
             LEFT JOIN purchases p ON p.id = e.purchase_id
             LEFT JOIN unmatched_vends u ON u.entry_id = e.id
             LEFT JOIN payouts o ON o.entry_id = e.id
             WHERE e.posted_at >= '{}' AND e.posted_at < '{}' GROUP BY 1, 2 ORDER BY 1, 2",
            day.period.from, day.period.to
        ))
    }
}

fn books_since(at: DateTime<Utc>) -> ReportedDay {
    ReportedDay { date: date(0), period: Period { from: at, to: "2999-01-01T00:00:00Z".parse().unwrap() } }
}

/// The statement that enters an unmatched vend of a provider of its own.
fn entering(number: usize, minor: i64) -> String {
    format!(
        "INSERT INTO providers (code, name) VALUES ('WUC', 'Water Utilities') ON CONFLICT DO NOTHING;
         INSERT INTO unmatched_vends (id, provider_code, provider_reference, provider_transaction, vended_at, product,
             subscriber_identifier, currency, net)
         VALUES (nextval('unmatched_vend_ids'), 'WUC', 'U-{number}', 'R-{number}', now(), 'WATER', '04257670465', 'BWP', {minor})"
    )
}

fn date(number: usize) -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 1, 1).unwrap() + chrono::Days::new(u64::try_from(number).unwrap())
}

/// The moves of a day as [`TestEnv::moved`] prints them.
fn printed(moves: &[BookMove], date: NaiveDate) -> String {
    let mut sums: BTreeMap<(&str, String), i64> = BTreeMap::new();
    for moved in moves.iter().filter(|moved| moved.date == date) {
        let kind = match moved.cause {
            BookCause::Sale => "SETTLE",
            BookCause::LateVend => "INCIDENT",
            BookCause::UnmatchedVend => "UNMATCHED_VEND",
            BookCause::Payout => "PAYOUT",
            BookCause::Correction => "ADJUST",
        };
        let provider = moved.provider_code.clone().unwrap_or_default();
        *sums.entry((kind, provider)).or_default() += moved.amount.minor();
    }
    let lines: Vec<String> =
        sums.iter().map(|((kind, provider), sum)| format!("{kind}|{provider}|{sum}")).collect();
    lines.join("\n")
}

/// Count, total, net, charge and commission of each day, product and provider.
fn summed<'a>(rows: impl IntoIterator<Item = &'a DaySales>) -> BTreeMap<(NaiveDate, String), [i64; 5]> {
    let mut sums: BTreeMap<_, [i64; 5]> = BTreeMap::new();
    for row in rows {
        let of = (row.date, format!("{} {}", row.product.as_str(), row.provider_code));
        let amounts = [row.total, row.net, row.charge, row.commission].map(Money::minor);
        let added = [row.count].into_iter().chain(amounts);
        sums.entry(of).or_default().iter_mut().zip(added).for_each(|(sum, amount)| *sum += amount);
    }
    sums
}

#[tokio::test]
async fn the_books_of_any_history_are_what_plain_sums_say() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let env = TestEnv::open().await;
    let begin = now(&env);
    let merchants = [env.merchant_with(100_000).await, env.merchant_with(100_000).await];
    let (mut moments, mut last) = (vec![begin], None);
    for (number, step) in steps().new_tree(&mut runner).unwrap().current().into_iter().enumerate() {
        last = env.takes(&merchants[number % 2], step, number, last).await;
        if let Step::Moment(is_struck) = step {
            moments.push(now(&env));
            if is_struck {
                assert!(env.operator.strike_trial_balance(moments[moments.len() - 1]).await.unwrap());
            }
        }
    }
    moments.push(now(&env));
    let day = |(number, pair): (usize, &[DateTime<Utc>])| ReportedDay {
        date: date(number),
        period: Period { from: pair[0], to: pair[1] },
    };
    let days: Vec<ReportedDay> = moments.windows(2).enumerate().map(day).collect();
    for part in [BookPart::Payable, BookPart::Fees, BookPart::Commission] {
        let report = report_books(&env.operator, part, &days).await.unwrap();
        assert!(report.is_complete);
        for day in &days {
            assert_eq!(printed(&report.moves, day.date), env.moved(part, day), "{part:?} of {}", day.date);
        }
        // What was owed at the begin of a day and what has moved since lead to what is owed now.
        let since = report_books(&env.operator, part, &[books_since(moments[3])]).await.unwrap();
        let opened: i64 = since.openings.iter().map(|opening| opening.balance.minor()).sum();
        let moved: i64 = since.moves.iter().map(|moved| moved.amount.minor()).sum();
        let all: i64 = report.moves.iter().map(|moved| moved.amount.minor()).sum();
        assert_eq!((opened + moved, since.is_complete), (all, false), "{part:?}");
    }
    for merchant in &merchants {
        let own = env.operator.sales(merchant.authority.organisation, days.clone()).await.unwrap();
        let reported =
            report_sales(&env.operator, Some(merchant.authority.organisation), &days).await.unwrap();
        assert!(own.is_complete && reported.is_complete && !own.rows.is_empty());
        let reported = reported.rows.iter().map(|(_organisation, row)| row);
        assert_eq!(summed(reported), summed(&own.rows), "the operator reads what the organisation reads");
    }
    for moment in &moments {
        assert_eq!(env.struck(*moment), env.counted(*moment), "{moment}");
    }
    let kinds = "SELECT count(DISTINCT kind) FROM journal_entries";
    assert_eq!(env.sql(kinds), "6", "the history has every kind of entry");
    let (worker, mut progress) = (crate::checks::as_worker(&env).await, CheckProgress::default());
    for _ in 0..20 {
        assert_eq!(back_office::check_books(&worker, &mut progress).await.unwrap(), []);
    }
}

#[tokio::test]
async fn an_entry_beside_wallets_that_is_under_way_is_waited_for() {
    let env = TestEnv::open().await;
    env.merchant_with(1_000).await;
    let session = env.session().await;
    session.batch_execute(&format!("BEGIN; {}", entering(1, 77))).await.unwrap();
    let midnight = now(&env);
    let early = env.operator.strike_trial_balance(midnight).await;
    assert!(matches!(early, Err(DatabaseError::Busy { .. })), "it may still be committed: {early:?}");
    let (struck, committed) = tokio::join!(env.operator.strike_trial_balance(midnight), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        session.batch_execute("COMMIT").await
    });
    committed.unwrap();
    assert!(struck.unwrap(), "a report waits a moment for what is committed meanwhile");
    assert_eq!(env.struck(midnight), "FUNDING||-1000\nPROVIDER_PAYABLE|WUC|77\nSUSPENSE||-77");
    assert!(!env.operator.strike_trial_balance("2999-01-01T00:00:00Z".parse().unwrap()).await.unwrap());
}

#[tokio::test]
async fn a_trial_balance_is_made_between_midnights_when_much_was_sold() {
    let env = TestEnv::open().await;
    let begin = now(&env);
    let merchant = env.merchant_with(100_000).await;
    assert!(!env.operator.carry_trial_balances().await.unwrap());
    env.sql("SELECT setval('journal_entry_ids', 200000)");
    env.takes(&merchant, Step::Sale(500), 1, None).await;
    assert!(env.operator.carry_trial_balances().await.unwrap());
    let between: i64 = env.count("trial_balances");
    assert!(between >= 1);
    env.takes(&merchant, Step::Sale(300), 2, None).await;
    let report = report_books(&env.operator, BookPart::Payable, &[books_since(begin)]).await.unwrap();
    let amounts: Vec<i64> = report.moves.iter().map(|moved| moved.amount.minor()).collect();
    assert_eq!(amounts, [500, 300], "a day is read from one trial balance to the next");
}

#[tokio::test]
async fn fees_are_never_taken_out_beyond_what_was_earned_not_even_by_hand() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    env.takes(&merchant, Step::Sale(500), 1, None).await;
    assert!(env.operator.strike_trial_balance(now(&env)).await.unwrap());
    env.takes(&merchant, Step::Sale(500), 2, None).await;
    let by_hand = |minor: i64, id: &str| {
        format!("SELECT post_payout('FEES', NULL, 'BWP', {minor}, '{id}', 'naledi', 'fees')")
    };
    assert!(env.database.run_sql(&by_hand(301, "A")).is_err(), "two purchases have a fee of 1.50 each");
    env.sql(&by_hand(300, "B"));
    assert!(env.database.run_sql(&by_hand(1, "C")).is_err());
    let wallet = env.commission_wallet(&merchant).0;
    let top_up = format!("SELECT post_payment({wallet}, 'TOP_UP', 'FUNDING', false, 1, NULL, 'naledi', 'x')");
    assert!(env.database.run_sql(&top_up).is_err(), "commission is not topped up");
    let pay =
        |wallet: i64, minor: i64| format!("SELECT pay_commission({wallet}, {minor}, NULL, 'naledi', 'x')");
    assert!(env.database.run_sql(&pay(merchant.wallet.0, 1)).is_err(), "it collects no commission");
    assert!(env.database.run_sql(&pay(wallet, 201)).is_err(), "more than was earned");
    env.sql(&pay(wallet, 200));
}
