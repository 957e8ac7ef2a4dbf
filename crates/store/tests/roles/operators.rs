//! What an operator's login may do with money in SQL, past vendctl: make payments that are written to the
//! audit log, and nothing else.

use std::process::Command;

use back_office::CheckProgress;
use local_postgres::LocalPostgres;
use test_kit::database::WORKER;

use crate::installation::{Login, env};

#[tokio::test]
async fn a_payment_by_hand_leaves_entry_balance_and_a_line_with_the_login() {
    let env = env().await;
    let merchant = env.merchant_with(50_000).await;
    let (operator, wallet) = (Login::of(&env.database, "test_operator").await, merchant.wallet.0);
    let takes = format!(
        "SELECT entry_id FROM post_payment({wallet}, 'ADJUST', 'SUSPENSE', true, 12305, 'T-1', 'kagiso', 'by hand')"
    );
    let entry = operator.runs(&takes).await.unwrap()[0][0].clone();
    assert_eq!(env.balances(merchant.wallet), "37695|0");
    let line = env.sql(&format!(
        "SELECT l.login, l.actor, l.action, l.subject, l.reason, l.details ->> 'amount', l.details ->> 'against',
             l.details ->> 'reference', l.details ->> 'entry'
         FROM audit_log l JOIN journal_entries e ON e.audit_id = l.id WHERE e.id = {entry}"
    ));
    let subject = format!("account:{wallet}");
    let told = [
        "test_operator",
        "test_operator",
        "account.adjusted",
        &subject,
        "by hand",
        "BWP -123.05",
        "SUSPENSE",
        "T-1",
        &entry,
    ];
    assert_eq!(line.split('|').collect::<Vec<_>>(), told);
    let worker = env.store_as(WORKER).await;
    assert_eq!(back_office::check_books(&worker, &mut CheckProgress::default()).await.unwrap(), []);
}

#[tokio::test]
async fn an_invalid_payment_is_refused_by_the_function() {
    let env = env().await;
    let merchant = env.merchant_with(50_000).await;
    env.reserved(&merchant, "04257670465", 1_000).await;
    let (wallet, system_account) =
        (merchant.wallet.0.to_string(), env.sql("SELECT id FROM accounts WHERE house = 'FUNDING'"));
    let operator = Login::of(&env.database, "test_operator").await;
    let (kinds, amount) = ("payments_are_of_known_kinds", "postings_amount_check");
    for (arguments, constraint) in [
        (format!("{wallet}, 'TOP_UP', 'SUSPENSE', false, 5"), kinds),
        (format!("{wallet}, 'TOP_UP', 'FUNDING', true, 5"), kinds),
        (format!("{wallet}, 'TOP_UP', 'FUNDING', NULL, 5"), kinds),
        (format!("{wallet}, 'ADJUST', 'FEE_INCOME', false, 5"), kinds),
        (format!("{wallet}, 'ADJUST', NULL, false, 5"), kinds),
        (format!("{wallet}, 'SETTLE', 'FUNDING', false, 5"), kinds),
        (format!("{wallet}, 'INCIDENT', 'SUSPENSE', false, 5"), kinds),
        (format!("{wallet}, NULL, 'FUNDING', false, 5"), kinds),
        (format!("{system_account}, 'TOP_UP', 'FUNDING', false, 5"), kinds),
        ("NULL, 'TOP_UP', 'FUNDING', false, 5".to_owned(), kinds),
        ("999999, 'TOP_UP', 'FUNDING', false, 5".to_owned(), kinds),
        (format!("{wallet}, 'TOP_UP', 'FUNDING', false, 0"), amount),
        (format!("{wallet}, 'TOP_UP', 'FUNDING', false, -5"), amount),
        (format!("{wallet}, 'ADJUST', 'FUNDING', true, -5"), amount),
        (format!("{wallet}, 'ADJUST', 'FUNDING', true, 48851"), "accounts_check"),
    ] {
        let said =
            operator.is_refused(&format!("SELECT post_payment({arguments}, NULL, 'naledi', 'x')")).await;
        assert!(said.contains(constraint), "{arguments}: {said}");
    }
    for status in ["SUSPENDED", "CLOSED"] {
        env.sql(&format!("UPDATE accounts SET status = '{status}' WHERE id = {wallet}"));
        let top_up =
            format!("SELECT post_payment({wallet}, 'TOP_UP', 'FUNDING', false, 5, NULL, 'naledi', 'x')");
        assert!(operator.is_refused(&top_up).await.contains(kinds), "{status}");
    }
    assert_eq!(env.balances(merchant.wallet), "50000|1150");
    assert_eq!(env.count("audit_log WHERE action = 'account.topped_up'"), 1);
}

#[tokio::test]
async fn every_new_wallet_is_empty() {
    let env = env().await;
    let merchant = env.merchant_with(50_000).await;
    let operator = Login::of(&env.database, "test_operator").await;
    for (posted, held) in [("5", "0"), ("5", "5")] {
        let full = format!(
            "INSERT INTO accounts (organisation_id, name, currency, category, posted, held)
             VALUES ({}, 'x', 'BWP', 'TOPUP', {posted}, {held})",
            merchant.authority.organisation.0
        );
        assert!(operator.is_refused(&full).await.contains("accounts_begin_empty"));
        assert!(
            env.database.run_sql(&full).unwrap_err().to_string().contains("begins empty"),
            "as the superuser"
        );
    }
    let renumbered = operator.is_refused("UPDATE accounts SET id = DEFAULT").await;
    assert!(renumbered.contains("the numbers of accounts are for ever"), "{renumbered}");
}

#[tokio::test]
async fn a_rate_that_was_lowered_counts_for_a_minute_more_and_cannot_be_backdated() {
    let env = env().await;
    let merchant = env.merchant_with(50_000).await;
    env.offers_to(merchant.authority.organisation);
    env.sql("UPDATE offers SET commission_rate = 0.1");
    let operator = Login::of(&env.database, "test_operator").await;
    operator.runs("UPDATE offers SET commission_rate = 0.05").await.unwrap();
    // Priced a moment ago, at the previous rate.
    env.reserved(&merchant, "04000000001", 1_000).await;
    let later = "SET session_replication_role = replica; UPDATE offers SET commission_rate_since = now() - interval '61 s'";
    env.sql(later);
    let order = env.order(&merchant, "04000000002", 1_000).await;
    let refused = env.store.reserve(order.clone()).await;
    assert!(matches!(refused, Err(store::ReserveError::Failed(_))), "{refused:?}");
    operator
        .runs("UPDATE offers SET former_commission_rate = 1, commission_rate_since = now()")
        .await
        .unwrap();
    let still = env.store.reserve(order).await;
    assert!(matches!(still, Err(store::ReserveError::Failed(_))), "{still:?}");
    assert_eq!(env.balances(merchant.wallet), "50000|1150");
}

#[tokio::test]
async fn an_unmatched_vend_by_hand_is_unknown_and_charged_once_with_its_exact_amount() {
    let env = env().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    let operator = Login::of(&env.database, "test_operator").await;
    let vend = |id: u8, reference: &str| {
        format!(
            "INSERT INTO unmatched_vends (id, provider_code, provider_reference, provider_transaction, vended_at, product,
                 subscriber_identifier, currency, net)
             VALUES ({id}, 'BPC', '{reference}', 'R-{id}', now(), 'ELECTRICITY', '04257670465', 'BWP', 1000)"
        )
    };
    let known = operator.is_refused(&vend(1, &order.provider_reference.to_string())).await;
    assert!(known.contains("unmatched_vends_are_unknown"), "{known}");
    operator.runs(&vend(1, "20261124032043-000900")).await.unwrap();
    let twice = operator.is_refused(&vend(2, "20261124032043-000900")).await;
    assert!(twice.contains("unmatched_vends_one_per_reference"), "{twice}");
    operator.runs(&vend(2, "20261124032043-000901")).await.unwrap();

    let pays = |amount: u32, against: &str| {
        format!(
            "SELECT entry_id FROM post_payment({}, 'ADJUST', '{against}', true, {amount}, NULL, 'naledi', 'x')",
            merchant.wallet.0
        )
    };
    let charge = |ids: &str, entry: &str| {
        format!(
            "INSERT INTO unmatched_vend_decisions (unmatched_vend_id, entry_id, actor, reason)
             SELECT id, {entry}, 'naledi', 'x' FROM unnest(ARRAY[{ids}]::bigint[]) AS id"
        )
    };
    let settled = env.sql("SELECT max(id) FROM journal_entries WHERE kind = 'TOP_UP'");
    let (little, elsewhere) = (pays(1_999, "SUSPENSE"), pays(2_000, "FUNDING"));
    let little = operator.runs(&little).await.unwrap()[0][0].clone();
    let elsewhere = operator.runs(&elsewhere).await.unwrap()[0][0].clone();
    for entry in [&settled, &little, &elsewhere, "999999"] {
        let said = operator.is_refused(&charge("1, 2", entry)).await;
        assert!(said.contains("unmatched_vends_are_charged_once"), "{entry}: {said}");
    }
    let exact = operator.runs(&pays(2_000, "SUSPENSE")).await.unwrap()[0][0].clone();
    operator.runs(&charge("1, 2", &exact)).await.unwrap();
    let again = operator.is_refused(&charge("2", "NULL")).await;
    assert!(again.contains("unmatched_vend_decisions_pkey"), "{again}");
    for change in ["UPDATE unmatched_vends SET net = 1", "DELETE FROM unmatched_vend_decisions"] {
        assert!(operator.is_refused(change).await.contains("permission denied"), "{change}");
        let said = env.database.run_sql(change).unwrap_err().to_string();
        assert!(said.contains("append-only"), "{change}: {said}");
    }
}

/// The runbook asks for a copy of the database before a finding is mended.
#[tokio::test]
async fn the_owner_dumps_the_whole_database_and_no_other_login_can() {
    let env = env().await;
    let dumped = |login: &str| {
        let mut dump = Command::new(LocalPostgres::shared().program("pg_dump"));
        dump.args(["--format=custom", "--dbname"]).arg(env.database.url_as(login, login));
        dump.output().unwrap()
    };
    let whole = dumped("test_owner");
    assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
    for login in ["test_operator", "test_administrator", "test_worker"] {
        let refused = dumped(login);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains("permission denied"), "{login}: {said}");
    }
}
