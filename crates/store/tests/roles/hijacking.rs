//! Tables and schemas that a caller puts before ours in the search path: the guards still use ours.

use crate::env::TestEnv;
use crate::forging::{FAILURE, SUCCESS, copy_of};
use crate::installation::{Login, env};

/// Temporary tables with the names of ours. A statement that names no schema finds them first.
const DECOYS: &str = "
    CREATE TEMP TABLE accounts (LIKE public.accounts);
    CREATE TEMP TABLE offers (LIKE public.offers);
    CREATE TEMP TABLE purchases (LIKE public.purchases);
    CREATE TEMP TABLE postings (LIKE public.postings);
    CREATE TEMP TABLE journal_entries (LIKE public.journal_entries);
    CREATE TEMP TABLE audit_head (LIKE public.audit_head);
    INSERT INTO pg_temp.accounts SELECT * FROM public.accounts;
    UPDATE pg_temp.accounts SET organisation_id = (SELECT min(organisation_id) FROM public.accounts) WHERE house IS NULL;
    INSERT INTO pg_temp.offers SELECT * FROM public.offers;
    UPDATE pg_temp.offers SET commission_rate = 1;
    INSERT INTO pg_temp.purchases SELECT * FROM public.purchases;
    INSERT INTO pg_temp.audit_head SELECT true, 0, NULL;
    GRANT ALL ON pg_temp.accounts, pg_temp.offers, pg_temp.purchases, pg_temp.postings, pg_temp.journal_entries,
        pg_temp.audit_head TO PUBLIC;
    SET search_path = pg_temp, public, pg_catalog;";

async fn decoyed(env: &TestEnv, login: &str) -> Login {
    let forger = Login::of(&env.database, login).await;
    forger.runs(DECOYS).await.unwrap();
    forger
}

#[tokio::test]
async fn decoys_do_not_let_a_purchase_begin_that_could_not() {
    let env = env().await;
    let (merchant, other) = (env.merchant_with(50_000).await, env.merchant_with(50_000).await);
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    env.sql("UPDATE public.offers SET commission_rate = 0.1");
    env.sql("UPDATE public.offers SET commission_rate_since = now() - interval '1 hour'");
    env.sql("SET session_replication_role = replica; UPDATE offers SET former_commission_rate = 0");
    let server = decoyed(&env, "test_server").await;
    for changes in ["commission = 101".to_owned(), format!("account_id = {}", other.wallet.0)] {
        let said = server.is_refused(&copy_of(order.id, &changes)).await;
        assert!(said.contains("purchases_begin_as_reserved"), "{changes}: {said}");
    }
    assert_eq!(env.balances(merchant.wallet), "50000|1150");
}

#[tokio::test]
async fn decoys_do_not_catch_the_money_of_a_purchase_that_ends() {
    for (end, balances) in [(SUCCESS, "48850|0"), (FAILURE, "50000|0")] {
        let env = env().await;
        let merchant = env.merchant_with(50_000).await;
        let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
        let server = decoyed(&env, "test_server").await;
        server.runs(&format!("UPDATE public.purchases SET {end} WHERE id = {}", order.id.0)).await.unwrap();
        assert_eq!(env.balances(merchant.wallet), balances);
        let theirs =
            "SELECT count(*) FROM pg_temp.postings UNION ALL SELECT count(*) FROM pg_temp.journal_entries";
        assert_eq!(server.runs(theirs).await.unwrap(), [["0"], ["0"]]);
        env.completes_end(order.id);
    }
}

#[tokio::test]
async fn decoys_do_not_lead_a_payment_or_a_line_of_the_log_astray() {
    let env = env().await;
    let merchant = env.merchant_with(50_000).await;
    let operator = decoyed(&env, "test_operator").await;
    let before = env.count("public.audit_log");
    let payment = format!(
        "SELECT public.post_payment({}, 'TOP_UP', 'FUNDING', false, 5, NULL, 'naledi', 'x')",
        merchant.wallet.0
    );
    operator.runs(&payment).await.unwrap();
    assert_eq!(env.balances(merchant.wallet), "50005|0");
    assert_eq!(env.count("public.audit_log"), before + 1);
    let head =
        "SELECT h.id = l.id AND h.hash = l.hash FROM audit_head h, audit_log l ORDER BY l.id DESC LIMIT 1";
    assert_eq!(env.sql(head), "t");
}

#[tokio::test]
async fn a_held_key_is_looked_for_among_our_purchases() {
    let env = env().await;
    let merchant = env.merchant_with(50_000).await;
    let order = env.order_under("till-3/0001", &merchant, "04257670465", 1_000).await;
    env.store.reserve(order.clone()).await.unwrap();
    let server = decoyed(&env, "test_server").await;
    server.runs("DELETE FROM pg_temp.purchases").await.unwrap();
    for number in [1, 2] {
        let said = server.is_refused(&copy_of(order.id, &format!("idempotency_use = {number}"))).await;
        assert!(said.contains("is held"), "use {number}: {said}");
    }
}
