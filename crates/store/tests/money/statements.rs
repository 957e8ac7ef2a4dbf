//! Statements of wallets: they concatenate for ever, whatever happens meanwhile, in whatever order it is committed.

use back_office::Movement;
use chrono::{DateTime, Utc};
use ledger::SystemAccount;
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use purchase::{
    AfterLine, Event, MovementKind, MovementPart, Period, RefusalSource, Statement, StatementLine,
};
use tokio::time::{Duration, timeout};
use vend::{Refusal, RefusalReason};

use crate::env::{FIRST, Merchant, TestEnv, act, pula, vended};

#[derive(Clone, Copy, Debug)]
enum Step {
    Sale(i64),
    Refusal,
    LateVend,
    TopUp(i64),
    Up(i64),
    Down(i64),
    /// A moment at which a statement ends and the next one begins; `true` if the statements up to it are read at once.
    Moment(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (200_i64..900).prop_map(Step::Sale),
        1 => Just(Step::Refusal),
        1 => Just(Step::LateVend),
        2 => (1_i64..5_000).prop_map(Step::TopUp),
        1 => (1_i64..300).prop_map(Step::Up),
        1 => (1_i64..300).prop_map(Step::Down),
        4 => any::<bool>().prop_map(Step::Moment),
    ];
    prop::collection::vec(step, 10..40)
}

pub fn now(env: &TestEnv) -> DateTime<Utc> {
    env.sql("SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")
        .parse()
        .unwrap()
}

fn posted(env: &TestEnv, merchant: &Merchant) -> i64 {
    env.sql(&format!("SELECT posted FROM accounts WHERE id = {}", merchant.wallet.0)).parse().unwrap()
}

async fn opened(env: &TestEnv, merchant: &Merchant, period: Period) -> Statement {
    let opened = env.store.open_statement(merchant.authority.organisation, merchant.wallet, period);
    opened.await.unwrap().unwrap()
}

/// All lines of a statement, read in pages of this length. The balances must run through all of them.
async fn lines(env: &TestEnv, statement: &Statement, limit: u16) -> Vec<StatementLine> {
    let (mut lines, mut after) = (Vec::new(), None::<AfterLine>);
    let mut balance = statement.extent.opening;
    loop {
        let page = env.store.list_movements(statement.clone(), after, limit).await.unwrap();
        assert_eq!(page.opening.minor(), balance);
        for line in &page.lines {
            balance += line.amount.minor();
            assert_eq!(line.balance.minor(), balance);
        }
        assert!(page.lines.len() <= usize::from(limit));
        lines.extend(page.lines);
        after = page.next;
        if after.is_none() {
            assert_eq!(balance, statement.extent.closing);
            return lines;
        }
    }
}

async fn pays(env: &TestEnv, merchant: &Merchant, movement: Movement, minor: i64) {
    let paid = back_office::pay(
        env.operator.database(),
        back_office::Payment { wallet: merchant.wallet, movement, amount: pula(minor), reference: None },
        act(),
    );
    paid.await.unwrap();
}

async fn takes(env: &TestEnv, merchant: &Merchant, step: Step, number: usize) {
    let meter = format!("{:011}", 4_257_600_000_usize + number);
    match step {
        Step::Sale(net) => {
            let (order, _) = env.reserved(merchant, &meter, net).await;
            env.records(&order, vended(&format!("V{number}"), net)).await;
        }
        Step::Refusal => {
            let (order, _) = env.reserved(merchant, &meter, 700).await;
            let refusal = Refusal::because(RefusalReason::Blocked);
            let refused = Event::Refused { fence: FIRST, refusal, source: RefusalSource::Answer };
            env.records(&order, refused).await;
        }
        Step::LateVend => {
            let (order, _) = env.reserved(merchant, &meter, 700).await;
            env.records(&order, Event::NeverSent { fence: FIRST }).await;
            env.records(&order, vended(&format!("V{number}"), 700)).await;
        }
        Step::TopUp(minor) => pays(env, merchant, Movement::TopUp, minor).await,
        Step::Up(minor) => pays(env, merchant, Movement::AdjustUp(SystemAccount::Suspense), minor).await,
        Step::Down(minor) => pays(env, merchant, Movement::AdjustDown(SystemAccount::Funding), minor).await,
        Step::Moment(_) => {}
    }
}

#[tokio::test]
async fn statements_of_any_history_concatenate_and_add_up_to_the_balance() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let env = TestEnv::open().await;
    for case in 0..6 {
        let steps = steps().new_tree(&mut runner).unwrap().current();
        let merchant = env.merchant_with(100_000).await;
        let mut moments = vec!["2020-01-01T00:00:00Z".parse::<DateTime<Utc>>().unwrap()];
        let mut told: Vec<(Period, Statement, Vec<StatementLine>)> = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            takes(&env, &merchant, *step, case * 100 + number).await;
            if let Step::Moment(is_read) = step {
                moments.push(now(&env));
                if *is_read {
                    let [.., from, to] = moments[..] else { continue };
                    let statement = opened(&env, &merchant, Period { from, to }).await;
                    let lines = lines(&env, &statement, 3).await;
                    told.push((Period { from, to }, statement, lines));
                }
            }
        }
        moments.push(now(&env));

        let mut last = 0;
        let mut sum = 0;
        for pair in moments.windows(2) {
            let statement = opened(&env, &merchant, Period { from: pair[0], to: pair[1] }).await;
            assert!(statement.extent.is_complete);
            assert_eq!(statement.extent.opening, last, "{steps:?}");
            last = statement.extent.closing;
            for limit in [1, 2, 1_000] {
                let lines = lines(&env, &statement, limit).await;
                assert!(lines.iter().all(|line| line.posted_at >= pair[0] && line.posted_at < pair[1]));
                sum += if limit == 1 { lines.iter().map(|line| line.amount.minor()).sum::<i64>() } else { 0 };
            }
        }
        assert_eq!((last, sum), (posted(&env, &merchant), posted(&env, &merchant)), "{steps:?}");
        for (period, statement, before) in told {
            let again = opened(&env, &merchant, period).await;
            assert_eq!(again, statement);
            assert_eq!(lines(&env, &again, 1_000).await, before);
        }
    }
}

#[tokio::test]
async fn a_line_names_its_purchase_or_the_operators_reference() {
    let env = TestEnv::open().await;
    let (merchant, from) = (env.merchant_with(10).await, now(&env));
    let payment = back_office::Payment {
        wallet: merchant.wallet,
        movement: Movement::TopUp,
        amount: pula(5_000),
        reference: Some("BANK-1".to_owned()),
    };
    back_office::pay(env.operator.database(), payment, act()).await.unwrap();
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    env.records(&order, vended("V1", 1_000)).await;
    let statement = opened(&env, &merchant, Period { from, to: now(&env) }).await;
    let lines = lines(&env, &statement, 10).await;
    let told: Vec<_> = lines.iter().map(|line| (line.kind, line.part, line.amount.minor())).collect();
    assert_eq!(
        told,
        [
            (MovementKind::TopUp, MovementPart::Payment, 5_000),
            (MovementKind::Purchase, MovementPart::Net, -1_000),
            (MovementKind::Purchase, MovementPart::Charge, -150),
        ]
    );
    assert_eq!((lines[0].reference.as_deref(), &lines[0].purchase), (Some("BANK-1"), &None));
    let purchase = lines[1].purchase.as_ref().unwrap();
    assert_eq!((purchase.id, purchase.subscriber.as_str()), (order.id, "04257670465"));
    assert_eq!(lines[1].reference.as_deref(), Some(order.reference.to_string().as_str()));
    assert_eq!(lines[1].purchase, lines[2].purchase);
}

#[tokio::test]
async fn a_posting_that_is_under_way_at_the_end_of_a_period_is_waited_for() {
    let env = TestEnv::open().await;
    let (merchant, from) = (env.merchant_with(1_000).await, now(&env));
    opened(&env, &merchant, Period { from, to: from }).await;
    let session = env.session().await;
    let paid = format!(
        "BEGIN; SELECT post_payment({}, 'TOP_UP', 'FUNDING', false, 77, 'late', 'naledi', 'late')",
        merchant.wallet.0
    );
    session.batch_execute(&paid).await.unwrap();
    let to = now(&env);
    let early = opened(&env, &merchant, Period { from, to: "2999-01-01T00:00:00Z".parse().unwrap() }).await;
    assert_eq!(
        (early.extent.closing, early.extent.is_complete),
        (1_000, false),
        "what is not committed is not shown"
    );

    let mut statement = std::pin::pin!(opened(&env, &merchant, Period { from, to }));
    assert!(timeout(Duration::from_millis(300), &mut statement).await.is_err(), "it may still be committed");
    session.batch_execute("COMMIT").await.unwrap();
    assert_eq!(statement.await.extent.closing, 1_077);
}

#[tokio::test]
async fn a_wallet_that_sells_after_the_period_is_not_locked_for_its_statement() {
    let env = TestEnv::open().await;
    let (merchant, from) = (env.merchant_with(1_000).await, now(&env));
    let to = now(&env);
    pays(&env, &merchant, Movement::TopUp, 5).await;
    let session = env.session().await;
    session.batch_execute(&format!("BEGIN; {}", crate::env::lock_of(merchant.wallet))).await.unwrap();
    // The cut-offs at both ends are before a posting, so no lock is needed.
    let statement = opened(&env, &merchant, Period { from, to }).await;
    assert_eq!((statement.extent.closing, statement.extent.is_complete), (1_000, true));
    session.batch_execute("ROLLBACK").await.unwrap();
}

#[tokio::test]
async fn a_statement_makes_the_cut_offs_of_its_period_in_one_commit() {
    let env = TestEnv::open().await;
    let (merchant, from) = (env.merchant_with(1_000).await, now(&env));
    pays(&env, &merchant, Movement::TopUp, 5).await;
    opened(&env, &merchant, Period { from, to: now(&env) }).await;
    assert_eq!(env.sql("SELECT count(*), count(DISTINCT xmin::text) FROM cutoffs"), "2|1");
}

#[tokio::test]
async fn a_clock_that_is_set_back_moves_no_posting_into_a_statement_that_was_given() {
    let env = TestEnv::open().await;
    let (merchant, from) = (env.merchant_with(1_000).await, "2020-01-01T00:00:00Z".parse().unwrap());
    let to = now(&env);
    let given = opened(&env, &merchant, Period { from, to }).await;
    pays(&env, &merchant, Movement::TopUp, 50).await;
    env.sql(
        "SET session_replication_role = replica;
         UPDATE journal_entries SET posted_at = posted_at - interval '1 hour'
         WHERE id = (SELECT max(id) FROM journal_entries)",
    );
    assert_eq!(opened(&env, &merchant, Period { from, to }).await, given);
    // Also a cut-off that is made later, for a moment before, cannot reach beyond it.
    let half = to - chrono::TimeDelta::minutes(30);
    let first = opened(&env, &merchant, Period { from, to: half }).await.extent;
    let second = opened(&env, &merchant, Period { from: half, to }).await.extent;
    assert_eq!((first.closing, second.opening, second.closing), (first.closing, first.closing, 1_000));
    let next = opened(&env, &merchant, Period { from: to, to: now(&env) }).await;
    assert_eq!((next.extent.opening, next.extent.closing), (1_000, 1_050));
    assert_eq!(lines(&env, &next, 10).await.len(), 1);
}

#[tokio::test]
async fn a_long_history_is_carried_forward_and_no_statement_adds_up_all_of_it() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with(1_000).await, env.merchant_with(1_000).await);
    // One payment of 0.01 a second, the last one a minute ago. The rows bypass the triggers.
    env.sql(&format!(
        "SET session_replication_role = replica;
         UPDATE journal_entries SET posted_at = posted_at - interval '1 day';
         WITH e AS (
             INSERT INTO journal_entries (id, kind, reason, posted_at, audit_id)
             SELECT 1000 + n, 'TOP_UP', 'bulk', now() - interval '1 minute' - (2500 - n) * interval '1 s', 100000 + n
             FROM generate_series(1, 2500) n RETURNING id
         )
         INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
         SELECT e.id, h.id, {0}, 'BWP', 1 FROM e, accounts h WHERE h.house = 'FUNDING' AND h.currency = 'BWP' ORDER BY e.id;
         UPDATE accounts SET posted = posted + 2500 WHERE id = {0};
         SELECT setval('journal_entry_ids', 30000)",
        merchant.wallet.0
    ));
    let worker = env.store_as(test_kit::database::WORKER).await;
    let (mut after, mut seen) = (0, Vec::new());
    while let Some(next) = worker.carry_forward(after).await.unwrap() {
        seen.push(next);
        after = next;
    }
    assert!(seen.contains(&merchant.wallet.0) && seen.contains(&other.wallet.0), "{seen:?}");
    let cutoffs = env.sql(&format!(
        "SELECT string_agg(balance::text, ',' ORDER BY at), count(*) FILTER (WHERE account_id <> {0}) FROM cutoffs",
        merchant.wallet.0
    ));
    // A stretch leaves out its last entry, because its limit may have cut that entry.
    assert_eq!(cutoffs, "1498,1997,2496,2995,3494|0");

    let to = now(&env) - chrono::TimeDelta::minutes(10);
    let statement = opened(&env, &merchant, Period { from: to - chrono::TimeDelta::minutes(5), to }).await;
    let lines = lines(&env, &statement, 100).await;
    assert!((295..=305).contains(&lines.len()), "{}", lines.len());
    let whole = Period { from: "2020-01-01T00:00:00Z".parse().unwrap(), to: now(&env) };
    assert_eq!(opened(&env, &merchant, whole).await.extent.closing, 3_500);
}

#[tokio::test]
async fn nothing_changes_a_cut_off_and_none_is_made_before_its_moment() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(1_000).await;
    let to = now(&env);
    opened(&env, &merchant, Period { from: to - chrono::TimeDelta::hours(1), to }).await;
    for change in ["UPDATE cutoffs SET balance = 1", "DELETE FROM cutoffs", "TRUNCATE cutoffs"] {
        assert!(env.database.run_sql(change).is_err(), "{change}");
    }
    let future =
        format!("SELECT entry_id IS NULL FROM cut_off({}, now() + interval '1 s', 100)", merchant.wallet.0);
    assert_eq!(env.sql(&future), "t");
    let house = "SELECT entry_id IS NULL FROM cut_off((SELECT min(id) FROM accounts WHERE house IS NOT NULL), now(), 100)";
    assert_eq!(env.sql(house), "t");
}

#[tokio::test]
async fn a_statement_of_another_organisation_does_not_exist() {
    let env = TestEnv::open().await;
    let (mine, theirs) = (env.merchant_with(1_000).await, env.merchant_with(1_000).await);
    let period = Period { from: "2020-01-01T00:00:00Z".parse().unwrap(), to: now(&env) };
    let opened = env.store.open_statement(mine.authority.organisation, theirs.wallet, period);
    assert_eq!(opened.await.unwrap(), None);
}
