//! The standing checks. Each test violates one invariant past the program, and exactly this violation is
//! reported. No violation is reported during normal purchases.

use std::time::Duration;

use back_office::{CheckProgress, Invariant, Violation};
use purchase::{Event, PurchaseId};
use store::Store;
use test_kit::database::WORKER;
use vend::{Refusal, RefusalReason};

use crate::env::{FIRST, Merchant, TestEnv, vended};

/// The store in the worker's role, which checks the books.
pub async fn as_worker(env: &TestEnv) -> Store {
    env.store_as(WORKER).await
}

/// Changes data past the triggers, as only a superuser can.
fn tamper(env: &TestEnv, sql: &str) {
    env.sql(&format!("SET session_replication_role = replica; {sql}"));
}

/// An environment with an open, a successful and a failed purchase, and the progress of its checks.
struct Books {
    env: TestEnv,
    worker: Store,
    progress: CheckProgress,
    merchant: Merchant,
    open: PurchaseId,
    successful: PurchaseId,
    failed: PurchaseId,
}

impl Books {
    async fn open() -> Self {
        let env = TestEnv::open().await;
        let (worker, merchant) = (as_worker(&env).await, env.merchant_with(50_000).await);
        let (open, _) = env.reserved(&merchant, "04257670465", 1_000).await;
        let (successful, _) = env.reserved(&merchant, "04257670466", 1_000).await;
        env.records(&successful, vended("V1", 1_000)).await;
        let (failed, _) = env.reserved(&merchant, "04257670467", 1_000).await;
        env.records(&failed, Event::NeverSent { fence: FIRST }).await;
        let (open, successful, failed) = (open.id, successful.id, failed.id);
        let mut books =
            Self { env, worker, progress: CheckProgress::default(), merchant, open, successful, failed };
        assert_eq!(books.violations().await, []);
        books
    }

    async fn violations(&mut self) -> Vec<Violation> {
        back_office::check_books(&self.worker, &mut self.progress).await.unwrap()
    }

    /// The violations of this invariant.
    async fn violations_of(&mut self, invariant: Invariant) -> Vec<Violation> {
        self.violations().await.into_iter().filter(|violation| violation.invariant == invariant).collect()
    }

    /// Violates an invariant, expects exactly this violation of it, repairs the data, and expects no
    /// violation.
    async fn sees(
        &mut self,
        invariant: Invariant,
        subject: &str,
        finding: &str,
        broken_by: &str,
        mended_by: &str,
    ) {
        tamper(&self.env, broken_by);
        for _ in 0..2 {
            let [violation]: [Violation; 1] = self.violations_of(invariant).await.try_into().unwrap();
            assert_eq!(violation.subject, subject);
            assert!(violation.finding.starts_with(finding), "{}", violation.finding);
        }
        tamper(&self.env, mended_by);
        assert_eq!(self.violations().await, [], "{invariant:?}");
    }
}

#[tokio::test]
async fn a_hold_without_a_purchase_is_seen() {
    let mut books = Books::open().await;
    let wallet = books.merchant.wallet.0;
    let by = |minor: &str| format!("UPDATE accounts SET held = held {minor} WHERE id = {wallet}");
    let finding = "BWP 11.51 is held, and open purchases come to BWP 11.50";
    let (subject, invariant) = (format!("account:{wallet}"), Invariant::HoldsEqualOpenPurchases);
    books.sees(invariant, &subject, finding, &by("+ 1"), &by("- 1")).await;
}

#[tokio::test]
async fn an_open_purchase_without_a_due_time_or_overdue_is_seen() {
    let mut books = Books::open().await;
    let (open, subject) = (books.open.0, format!("purchase:{}", books.open.0));
    let due = |at: &str| format!("UPDATE purchases SET due_at = {at} WHERE id = {open}");
    tamper(&books.env, "ALTER TABLE purchases DROP CONSTRAINT purchases_due_while_open");
    let never = (due("NULL"), due("now()"));
    let finding = "it is IN_FLIGHT, and has no due time";
    books.sees(Invariant::OpenPurchasesAreDue, &subject, finding, &never.0, &never.1).await;
    let late = (due("now() - interval '16 minutes'"), due("now() - interval '14 minutes'"));
    books
        .sees(
            Invariant::DuePurchasesAreTakenUp,
            &subject,
            "it is IN_FLIGHT, and due for 96",
            &late.0,
            &late.1,
        )
        .await;
}

#[tokio::test]
async fn an_end_that_the_feed_does_not_tell_or_tells_otherwise_is_seen() {
    let mut books = Books::open().await;
    let (successful, subject) = (books.successful.0, format!("purchase:{}", books.successful.0));
    let told = |was: &str, is: &str| {
        format!("UPDATE feed_events SET kind = '{is}' WHERE purchase_id = {successful} AND kind = '{was}'")
    };
    for (is, finding) in [
        ("purchase.failed", "it is SUCCESSFUL, and the feed tells of purchase.failed"),
        ("purchase.lost", "it is SUCCESSFUL, and the feed does not tell of its end"),
    ] {
        let (broken, mended) = (told("purchase.succeeded", is), told(is, "purchase.succeeded"));
        books.sees(Invariant::EndsAreTold, &subject, finding, &broken, &mended).await;
    }
}

#[tokio::test]
async fn a_balance_that_was_not_posted_is_seen() {
    let mut books = Books::open().await;
    let wallet = books.merchant.wallet.0;
    let by = |minor: &str| format!("UPDATE accounts SET posted = posted {minor} WHERE id = {wallet}");
    let finding = "its balance is BWP 488.57, and its postings come to BWP 488.50";
    let (subject, invariant) = (format!("account:{wallet}"), Invariant::BalancesEqualPostings);
    books.sees(invariant, &subject, finding, &by("+ 7"), &by("- 7")).await;
}

#[tokio::test]
async fn a_cut_off_that_its_postings_do_not_reach_or_do_not_lead_on_from_is_seen() {
    let mut books = Books::open().await;
    let wallet = books.merchant.wallet.0;
    for minutes in [60, 0] {
        let cut = format!("SELECT cut_off({wallet}, clock_timestamp() - interval '{minutes} minutes', 100)");
        books.env.sql(&cut);
    }
    assert_eq!(books.violations().await, []);
    let (first, last) = ("(SELECT min(id) FROM cutoffs)", "(SELECT max(id) FROM cutoffs)");
    let by = |id: &str, minor: &str| format!("UPDATE cutoffs SET balance = balance {minor} WHERE id = {id}");
    let (subject, invariant) = (format!("account:{wallet}"), Invariant::StatementsCarryOn);
    let number = books.env.sql("SELECT max(id) FROM cutoffs");
    let finding = format!("cut-off {number} has 48857, and its postings come to 48850");
    books.sees(invariant, &subject, &finding, &by(last, "+ 7"), &by(last, "- 7")).await;
    let posted = |minor: &str| format!("UPDATE accounts SET posted = posted {minor} WHERE id = {wallet}");
    tamper(&books.env, &posted("+ 7"));
    let [violation]: [Violation; 1] = books.violations_of(invariant).await.try_into().unwrap();
    let finding =
        format!("cut-off {number} and the postings after it come to 48850, and the balance is 48857");
    assert_eq!(violation.finding, finding);
    tamper(&books.env, &posted("- 7"));
    tamper(&books.env, &by(first, "+ 7"));
    assert_eq!(
        books.violations_of(invariant).await.len(),
        2,
        "the second one no longer follows from the first"
    );
    tamper(&books.env, &by(first, "- 7"));
    assert_eq!(books.violations().await, []);
}

#[tokio::test]
async fn a_trial_balance_that_its_postings_do_not_lead_to_is_seen() {
    let mut books = Books::open().await;
    for minutes in [60, 0] {
        let at = books.env.sql(&format!(
            "SELECT to_char((clock_timestamp() - interval '{minutes} minutes') AT TIME ZONE 'UTC', \
             'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
        ));
        assert!(books.worker.strike_trial_balance(at.parse().unwrap()).await.unwrap());
    }
    assert_eq!(books.violations().await, []);
    let last = "at = (SELECT max(at) FROM trial_balances)";
    let number = books.env.sql("SELECT max(id) FROM trial_balances");
    let (subject, invariant) = (format!("trial_balance:{number}"), Invariant::TrialBalancesCarryOn);
    let owed = |minor: &str| {
        format!(
            "UPDATE trial_balance_lines SET balance = balance {minor} WHERE {last} AND provider_code <> ''"
        )
    };
    let finding =
        "PROVIDER_PAYABLE of BPC has BWP 10.07, and it had BWP 0.00 and its postings come to BWP 10.00";
    books.sees(invariant, &subject, finding, &owed("+ 7"), &owed("- 7")).await;
    let kept = |minor: &str| {
        format!(
            "UPDATE trial_balance_moves SET amount = amount {minor} WHERE {last}
             AND account_id = (SELECT id FROM accounts WHERE house = 'PROVIDER_PAYABLE' AND currency = 'BWP')"
        )
    };
    let finding = "PROVIDER_PAYABLE of BPC is reported to have been moved by BWP 10.07, and the postings of wallets come to BWP 10.00";
    books.sees(invariant, &subject, finding, &kept("+ 7"), &kept("- 7")).await;
    let total = |minor: &str| format!("UPDATE trial_balance_moves SET total = total {minor} WHERE {last}");
    let finding = "of 1 kinds of sales the reported totals, net amounts and charges do not fit";
    books.sees(invariant, &subject, finding, &total("+ 7"), &total("- 7")).await;
    let cut = |minor: &str| {
        let wallet = books.merchant.wallet.0;
        format!("UPDATE cutoffs SET balance = balance {minor} WHERE {last} AND account_id = {wallet}")
    };
    let (broken, mended) = (cut("+ 7"), cut("- 7"));
    let finding = "the balances of all accounts add up to BWP 0.07, and not to nothing";
    books.sees(invariant, &subject, finding, &broken, &mended).await;
}

#[tokio::test]
async fn a_payout_that_the_audit_log_does_not_tell_of_is_seen() {
    let mut books = Books::open().await;
    let paid =
        "SELECT entry_id FROM post_payout('PROVIDER', 'BPC', 'BWP', 500, 'BANK-1', 'naledi', 'November')";
    let entry = books.env.sql(paid);
    assert_eq!(books.violations().await, []);
    let by = |minor: i64| format!("UPDATE postings SET amount = {minor} WHERE entry_id = {entry}");
    let (subject, finding) =
        (format!("journal_entry:{entry}"), "it is no payout that a line of the audit log");
    books.sees(Invariant::PayoutsAreAudited, &subject, finding, &by(600), &by(500)).await;
}

#[tokio::test]
async fn an_entry_that_moves_nothing_or_between_currencies_is_seen() {
    let mut books = Books::open().await;
    let entry: i64 = books.env.sql("SELECT max(id) + 1 FROM journal_entries").parse().unwrap();
    let mended_by = format!("DELETE FROM journal_entries WHERE id = {entry}");
    let empty = format!(
        "INSERT INTO journal_entries (id, kind, purchase_id, posted_at) VALUES ({entry}, 'INCIDENT', {}, now())",
        books.failed.0
    );
    let (subject, invariant) = (format!("journal_entry:{entry}"), Invariant::EntriesKeepToOneCurrency);
    books.sees(invariant, &subject, "it moves nothing", &empty, &mended_by).await;

    let entry = books.env.sql("SELECT id FROM journal_entries WHERE kind = 'SETTLE'");
    let in_currency =
        |code: &str| format!("UPDATE postings SET currency = '{code}' WHERE entry_id = {entry}");
    let subject = format!("journal_entry:{entry}");
    let finding = "3 of its 3 moves leave their currency";
    books.sees(invariant, &subject, finding, &in_currency("ZAR"), &in_currency("BWP")).await;
}

#[tokio::test]
async fn a_success_without_its_settlement_is_seen() {
    let mut books = Books::open().await;
    let successful = books.successful.0;
    let entry =
        |kind: &str| format!("UPDATE journal_entries SET kind = '{kind}' WHERE purchase_id = {successful}");
    let (subject, invariant) = (format!("purchase:{successful}"), Invariant::SuccessesArePaid);
    let finding = "it is successful, and no entry settles it";
    books.sees(invariant, &subject, finding, &entry("INCIDENT"), &entry("SETTLE")).await;

    let pays_for = |id: i64| format!("UPDATE purchases SET account_id = {id} WHERE id = {successful}");
    let (wallet, other) = (books.merchant.wallet.0, books.env.merchant_with(10).await.wallet.0);
    let entry = books.env.sql("SELECT id FROM journal_entries WHERE kind = 'SETTLE'");
    let finding = format!("entry {entry} moves ");
    books.sees(invariant, &subject, &finding, &pays_for(other), &pays_for(wallet)).await;
}

#[tokio::test]
async fn a_settlement_of_what_was_not_vended_is_seen() {
    let mut books = Books::open().await;
    let open = books.open.0;
    let entry: i64 = books.env.sql("SELECT max(id) + 1000 FROM journal_entries").parse().unwrap();
    let settled = format!(
        "INSERT INTO journal_entries (id, kind, purchase_id, posted_at) VALUES ({entry}, 'SETTLE', {open}, now());
         INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
         SELECT {entry}, d.id, c.id, 'BWP', 5 FROM accounts d, accounts c
         WHERE d.house = 'FUNDING' AND c.house = 'SUSPENSE' AND d.currency = 'BWP' AND c.currency = 'BWP'"
    );
    let mended = format!(
        "DELETE FROM postings WHERE entry_id = {entry}; DELETE FROM journal_entries WHERE id = {entry}"
    );
    let (subject, invariant) = (format!("journal_entry:{entry}"), Invariant::SettlementsHaveTheirSuccess);
    let finding = format!("it settles purchase {open}, which is IN_FLIGHT");
    books.sees(invariant, &subject, &finding, &settled, &mended).await;
}

#[tokio::test]
async fn a_settlement_of_other_amounts_or_between_other_accounts_is_seen() {
    let mut books = Books::open().await;
    let entry = books.env.sql("SELECT id FROM journal_entries WHERE kind = 'SETTLE'");
    let subject = format!("purchase:{}", books.successful.0);
    let commission = |minor: u32| {
        format!("UPDATE postings SET amount = {minor} WHERE entry_id = {entry} AND amount IN (100, 101)")
    };
    let finding = format!("entry {entry} moves ");
    let broken = (commission(101), commission(100));
    books.sees(Invariant::SuccessesArePaid, &subject, &finding, &broken.0, &broken.1).await;
    let into = |system_account: &str| {
        format!(
            "UPDATE postings SET credit_account_id = (SELECT id FROM accounts WHERE house = '{system_account}')
             WHERE entry_id = {entry} AND amount = 150"
        )
    };
    let broken = (into("FUNDING"), into("FEE_INCOME"));
    books.sees(Invariant::SuccessesArePaid, &subject, &finding, &broken.0, &broken.1).await;
}

#[tokio::test]
async fn a_payment_without_its_line_in_the_audit_log_or_with_another_is_seen() {
    let mut books = Books::open().await;
    let entry = books.env.sql("SELECT id FROM journal_entries WHERE kind = 'TOP_UP'");
    let (subject, invariant) = (format!("journal_entry:{entry}"), Invariant::PaymentsAreAudited);
    let line = books.env.sql("SELECT audit_id FROM journal_entries WHERE kind = 'TOP_UP'");
    let about = |id: &str| format!("UPDATE journal_entries SET audit_id = {id} WHERE id = {entry}");
    let finding = "no line of the audit log is about it";
    books.sees(invariant, &subject, finding, &about("1000"), &about(&line)).await;
    let finding = "line 1 of the audit log tells of another payment";
    books.sees(invariant, &subject, finding, &about("1"), &about(&line)).await;
    let finding = format!("line {line} of the audit log tells of another payment");
    for (column, forged, right) in
        [("amount", "50001", "50000"), ("credit_account_id", "1", &books.merchant.wallet.0.to_string())]
    {
        let set = |to: &str| format!("UPDATE postings SET {column} = {to} WHERE entry_id = {entry}");
        books.sees(invariant, &subject, &finding, &set(forged), &set(right)).await;
    }
}

#[tokio::test]
async fn an_incident_that_is_owed_otherwise_is_seen() {
    let mut books = Books::open().await;
    let order = books.env.order_with(&books.merchant, "04257670467", 1_000, books.failed.0);
    books.env.records(&order, vended("LATE", 1_000)).await;
    assert_eq!(books.violations().await, []);
    let entry = books.env.sql("SELECT id FROM journal_entries WHERE kind = 'INCIDENT'");
    let (subject, invariant) = (format!("journal_entry:{entry}"), Invariant::IncidentsAreOwed);
    let amount = |minor: u32| format!("UPDATE postings SET amount = {minor} WHERE entry_id = {entry}");
    let finding = format!("it is not what is owed for a vend after the end of purchase {}", books.failed.0);
    books.sees(invariant, &subject, &finding, &amount(1_001), &amount(1_000)).await;
    let of = |id: i64| format!("UPDATE incidents SET purchase_id = {id}");
    let (open, failed) = (books.open.0, books.failed.0);
    books.sees(invariant, &subject, &finding, &of(open), &of(failed)).await;
}

#[tokio::test]
async fn an_unmatched_vend_that_is_owed_otherwise_is_seen() {
    let mut books = Books::open().await;
    books.env.sql(
        "INSERT INTO unmatched_vends (id, provider_code, provider_reference, provider_transaction, vended_at, product,
             subscriber_identifier, currency, net)
         VALUES (1, 'BPC', '20261124032043-000900', 'R-2', now(), 'ELECTRICITY', '04257670467', 'BWP', 1000)",
    );
    assert_eq!(books.violations().await, []);
    let entry = books.env.sql("SELECT entry_id FROM unmatched_vends");
    let (subject, invariant) = (format!("journal_entry:{entry}"), Invariant::UnmatchedVendsAreOwed);
    let finding = "it is not what is owed for an unmatched vend";
    let amount = |minor: u32| format!("UPDATE postings SET amount = {minor} WHERE entry_id = {entry}");
    books.sees(invariant, &subject, finding, &amount(1_001), &amount(1_000)).await;
    let of = |entry: &str| format!("UPDATE unmatched_vends SET entry_id = {entry}");
    books.sees(invariant, &subject, finding, &of("1"), &of(&entry)).await;

    books.env.sql("SELECT withdraw_unmatched_vends(ARRAY[1], 'naledi', 'it never was')");
    assert_eq!(books.violations().await, []);
    let undone_by = books.env.sql("SELECT reversed_by FROM reversals");
    let subject = format!("journal_entry:{undone_by}");
    let amount = |minor: u32| format!("UPDATE postings SET amount = {minor} WHERE entry_id = {undone_by}");
    books.sees(invariant, &subject, finding, &amount(1_001), &amount(1_000)).await;
    let charged = |entry: &str| format!("UPDATE unmatched_vend_decisions SET entry_id = {entry}");
    books.sees(invariant, &subject, finding, &charged("1"), &charged("NULL")).await;
}

#[tokio::test]
async fn a_success_without_evidence_and_a_decision_without_an_author_are_seen() {
    let mut books = Books::open().await;
    let (successful, invariant) = (books.successful.0, Invariant::EndsHaveEvidence);
    let subject = format!("purchase:{successful}");
    let token = books.env.sql(&format!("SELECT sealed_token FROM purchases WHERE id = {successful}"));
    let sealed =
        |bytes: &str| format!("UPDATE purchases SET sealed_token = '{bytes}' WHERE id = {successful}");
    let finding = "it is successful, and nothing that our keys have sealed shows it";
    books.sees(invariant, &subject, finding, &sealed("a token"), &sealed(&token)).await;

    let named = |name: &str| {
        format!("UPDATE attempts SET provider_reference = {name} WHERE purchase_id = {successful}")
    };
    let right = format!("(SELECT provider_reference FROM purchases WHERE id = {successful})");
    let finding = "it is successful, and no attempt of that name is on record";
    books.sees(invariant, &subject, finding, &named("'another'"), &named(&right)).await;

    let history = |id: i64, from: &str, to: &str| {
        format!("UPDATE purchase_events SET fact = '{to}' WHERE purchase_id = {id} AND fact = '{from}'")
    };
    let finding = "it is successful, and its history does not tell of a vend";
    let broken = (history(successful, "VENDED", "LOST"), history(successful, "LOST", "VENDED"));
    books.sees(invariant, &subject, finding, &broken.0, &broken.1).await;
    let (vouched, not_vended) = ("OPERATOR_VENDED", "OPERATOR_NOT_VENDED");
    let finding = "a person decided it, and no line of the audit log says who";
    let broken = (history(successful, "VENDED", vouched), history(successful, vouched, "VENDED"));
    books.sees(invariant, &subject, finding, &broken.0, &broken.1).await;
    let (failed, subject) = (books.failed.0, format!("purchase:{}", books.failed.0));
    let broken = (history(failed, "NEVER_SENT", not_vended), history(failed, not_vended, "NEVER_SENT"));
    books.sees(invariant, &subject, finding, &broken.0, &broken.1).await;
}

/// Airtime has no token. The evidence of its vend is the sealed reply of the provider, and not a copy of an
/// earlier reply.
#[tokio::test]
async fn a_vend_without_a_token_is_shown_by_what_the_provider_said() {
    let mut books = Books::open().await;
    let mut order = books.env.order(&books.merchant, "26771234567", 1_000).await;
    order.request.product = vend::Product::Airtime;
    books.env.store.reserve(order.clone()).await.unwrap();
    let doubt = vend::Unclear::said(vend::Doubt::TimedOut, b"please wait");
    books.env.records(&order, Event::Lost { fence: FIRST, why: doubt }).await;
    let airtime = vend::Vend { tokens: None, units: None, ..crate::env::vend("A1", 1_000) };
    books.env.records(&order, Event::Vended { vend: Box::new(airtime) }).await;
    assert_eq!(books.violations().await, []);

    let (subject, invariant, id) =
        (format!("purchase:{}", order.id.0), Invariant::EndsHaveEvidence, order.id.0);
    let finding = "it is successful, and nothing that our keys have sealed shows it";
    let at_end = format!("purchase_id = {id} AND at = (SELECT ended_at FROM purchases WHERE id = {id})");
    let reply = books.env.sql(&format!("SELECT sealed_reply FROM provider_replies WHERE {at_end}"));
    let set = |bytes: &str| format!("UPDATE provider_replies SET sealed_reply = {bytes} WHERE {at_end}");
    let earlier =
        format!("(SELECT sealed_reply FROM provider_replies WHERE purchase_id = {id} ORDER BY at LIMIT 1)");
    let mended = set(&format!("'{reply}'"));
    books.sees(invariant, &subject, finding, &set("'what he said'"), &mended).await;
    books.sees(invariant, &subject, finding, &set(&earlier), &mended).await;
}

#[tokio::test]
async fn a_changed_line_of_the_audit_log_is_seen() {
    let mut books = Books::open().await;
    let reason = |text: &str| format!("UPDATE audit_log SET reason = '{text}' WHERE id = 2");
    let finding = "line 2 was changed after it was written";
    let broken = (reason("none"), reason("bank transfer 4711"));
    books.sees(Invariant::AuditLogIsWhole, "audit_log:2", finding, &broken.0, &broken.1).await;
}

#[tokio::test]
async fn lines_cut_off_the_audit_log_are_seen_by_a_worker_that_had_read_them() {
    let mut books = Books::open().await;
    books.env.declare(vend::Capabilities::default()).await;
    assert_eq!(books.violations().await, []);
    let newest: i64 = books.env.sql("SELECT max(id) FROM audit_log").parse().unwrap();
    let cut = format!(
        "DELETE FROM audit_log WHERE id = {newest};
         UPDATE audit_head SET (id, hash) = (SELECT id, hash FROM audit_log ORDER BY id DESC LIMIT 1)"
    );
    tamper(&books.env, &cut);
    let [violation]: [Violation; 1] = books.violations().await.try_into().unwrap();
    let named = (violation.invariant, violation.subject);
    assert_eq!(named, (Invariant::AuditLogIsWhole, format!("audit_log:{newest}")));
    // A worker that has not read them cannot notice this.
    assert_eq!(back_office::check_books(&books.worker, &mut CheckProgress::default()).await.unwrap(), []);
}

#[tokio::test]
async fn a_wallet_with_a_long_history_is_added_up_in_several_looks() {
    let mut books = Books::open().await;
    let (wallet, failed, invariant) =
        (books.merchant.wallet.0, books.failed.0, Invariant::BalancesEqualPostings);
    tamper(
        &books.env,
        &format!(
            "WITH entry AS (
                 INSERT INTO journal_entries (kind, purchase_id, posted_at)
                 SELECT 'INCIDENT', {failed}, now() FROM generate_series(1, 30000) RETURNING id
             ), moved AS (
                 INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
                 SELECT entry.id, a.id, {wallet}, 'BWP', 1 FROM entry, accounts a
                 WHERE a.house = 'FUNDING' AND a.currency = 'BWP'
             )
             UPDATE accounts SET posted = posted + 30001 WHERE id = {wallet}"
        ),
    );
    assert_eq!(books.violations_of(invariant).await, [], "the end of its history is not reached yet");
    walks_by_the_indexes_of_accounts(&books.env);
    let seen = books.violations_of(invariant).await;
    assert_eq!(seen.len(), 1);
    assert_eq!(
        seen[0].to_string(),
        format!("account:{wallet}: its balance is BWP 788.51, and its postings come to BWP 788.50")
    );
    assert_eq!(
        books.violations_of(invariant).await,
        seen,
        "a violation is reported until it is found repaired"
    );
    tamper(&books.env, &format!("UPDATE accounts SET posted = posted - 1 WHERE id = {wallet}"));
    for _ in 0..3 {
        books.violations_of(invariant).await;
    }
    assert_eq!(books.violations_of(invariant).await, []);
}

/// The walk of one wallet costs only what its own postings cost, however large the rest of the journal is.
fn walks_by_the_indexes_of_accounts(env: &TestEnv) {
    let sql = include_str!("../../../back-office/src/checks/walk_wallet.sql");
    let sql = sql.replace("$1", "1").replace("$2", "0").replace("$3", "20000");
    let plan = env.sql(&format!("ANALYZE; EXPLAIN {sql}"));
    for (index, is_used) in
        [("postings_by_credit", true), ("postings_by_debit", true), ("postings_of_entry", false)]
    {
        assert_eq!(plan.contains(index), is_used, "{plan}");
    }
}

#[tokio::test]
async fn nothing_is_reported_while_people_buy() {
    let env = TestEnv::open().await;
    let (worker, mut progress) = (as_worker(&env).await, CheckProgress::default());
    let merchants = [env.merchant_with(5_000_000).await, env.merchant_with(5_000_000).await];
    let buying = merchants.iter().enumerate().map(|(number, merchant)| buys(&env, number, merchant));
    let buying = futures_util::future::join_all(buying);
    let checking = async {
        let mut looks = 0;
        loop {
            assert_eq!(back_office::check_books(&worker, &mut progress).await.unwrap(), []);
            looks += 1;
            tokio::time::sleep(Duration::from_millis(5)).await;
            if looks == 10_000 {
                return;
            }
        }
    };
    tokio::select! { _ = buying => {}, () = checking => {} }
    assert_eq!(back_office::check_books(&worker, &mut progress).await.unwrap(), []);
    assert_eq!(env.count("journal_entries WHERE kind = 'SETTLE'"), 100);
}

/// A hundred purchases: half of them succeed, a quarter is refused, a quarter stays in doubt.
async fn buys(env: &TestEnv, merchant_number: usize, merchant: &Merchant) {
    for number in 0..100 {
        let (order, _) = env.reserved(merchant, &format!("04{merchant_number}0000{number:04}"), 1_000).await;
        let event = match number % 4 {
            0 | 1 => vended(&format!("V{merchant_number}-{number}"), 1_000),
            2 => {
                let refusal = Refusal::because(RefusalReason::Blocked);
                Event::Refused { fence: FIRST, refusal, source: purchase::RefusalSource::Answer }
            }
            _ => Event::Lost { fence: FIRST, why: vend::Doubt::TimedOut.into() },
        };
        env.records(&order, event).await;
    }
}
