//! What an attacker with the password of a server or of the worker can try: each forgery that would create
//! money or move it twice.

use purchase::PurchaseId;

use crate::env::{FIRST, Merchant, TestEnv, vended};
use crate::installation::{LOGINS, Login, env};

/// The change that makes an open purchase successful.
pub const SUCCESS: &str =
    "state = 'SUCCESSFUL', copies = NULL, last_sent_at = NULL, lease_until = NULL, due_at = NULL,
    ended_at = now(), provider_transaction = 'FORGED', sealed_token = 'a token', token_key_id = 1";

/// The change that makes an open purchase failed.
pub const FAILURE: &str =
    "state = 'FAILED', copies = NULL, last_sent_at = NULL, lease_until = NULL, due_at = NULL,
    ended_at = now(), failure = 'REFUSED', failure_reason = 'busy'";

/// Statements that write a copy of a purchase with these changes, for another meter.
pub fn copy_of(purchase: PurchaseId, changes: &str) -> String {
    format!(
        "CREATE TEMP TABLE forged ON COMMIT DROP AS SELECT * FROM public.purchases WHERE id = {};
         UPDATE pg_temp.forged SET id = id + 1000, reserved_no = reserved_no + 1000,
             subscriber_identifier = subscriber_identifier || '9';
         UPDATE pg_temp.forged SET {changes};
         INSERT INTO public.purchases OVERRIDING SYSTEM VALUE SELECT * FROM pg_temp.forged",
        purchase.0
    )
}

/// The moves of the entry that settles a purchase, the smallest first.
fn moves_of(env: &TestEnv, purchase: PurchaseId) -> String {
    env.sql(&format!(
        "SELECT coalesce(d.house, d.category), coalesce(c.house, c.category), p.amount
         FROM journal_entries e JOIN postings p ON p.entry_id = e.id
         JOIN accounts d ON d.id = p.debit_account_id JOIN accounts c ON c.id = p.credit_account_id
         WHERE e.purchase_id = {} ORDER BY p.amount",
        purchase.0
    ))
}

fn commission_account(env: &TestEnv, merchant: &Merchant) -> String {
    let organisation = merchant.authority.organisation.0;
    env.sql(&format!(
        "SELECT id FROM accounts WHERE category = 'COMMISSION' AND organisation_id = {organisation}"
    ))
}

#[tokio::test]
async fn neither_server_nor_worker_posts_a_payment_or_changes_a_balance() {
    let env = env().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    let (wallet, id) = (merchant.wallet.0, order.id.0);
    let entry = |kind: &str, purchase: &str| {
        format!(
            "INSERT INTO journal_entries (id, kind, purchase_id, reason, posted_at, audit_id)
             VALUES (1000, '{kind}', {purchase}, 'forged', now(), 1)"
        )
    };
    for login in ["test_server", "test_worker"] {
        let forger = Login::of(&env.database, login).await;
        for forged in [
            entry("TOP_UP", "NULL"),
            entry("ADJUST", "NULL"),
            entry("SETTLE", &id.to_string()),
            entry("INCIDENT", &id.to_string()),
            format!(
                "INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
                 SELECT 1, id, {wallet}, 'BWP', 5 FROM accounts WHERE house = 'FUNDING'"
            ),
            format!("UPDATE accounts SET posted = posted + 1 WHERE id = {wallet}"),
            format!("UPDATE accounts SET held = 0 WHERE id = {wallet}"),
            format!("UPDATE accounts SET status = 'ACTIVE' WHERE id = {wallet}"),
            "INSERT INTO accounts (organisation_id, name, currency, category, posted, held)
             VALUES (1, 'x', 'BWP', 'TOPUP', 5, 0)"
                .to_owned(),
            format!("SELECT post_payment({wallet}, 'TOP_UP', 'FUNDING', false, 5, NULL, 'naledi', 'forged')"),
            "SELECT nextval('journal_entry_ids')".to_owned(),
            "UPDATE offers SET commission_rate = 1".to_owned(),
            format!("UPDATE purchases SET total = 1, net = 1, charge = 0 WHERE id = {id}"),
            format!("UPDATE purchases SET account_id = 1 WHERE id = {id}"),
        ] {
            let said = forger.is_refused(&forged).await;
            assert!(said.contains("permission denied"), "{login}: {forged}: {said}");
        }
    }
    assert_eq!(env.balances(merchant.wallet), "50000|1150");
}

#[tokio::test]
async fn a_purchase_that_no_reserve_would_leave_is_refused() {
    let env = env().await;
    let (merchant, other) = (env.merchant_with(50_000).await, env.merchant_with(50_000).await);
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    let server = Login::of(&env.database, "test_server").await;
    let others = commission_account(&env, &other);
    let begins = "purchases_begin_as_reserved";
    let system_account = env.sql("SELECT id FROM accounts WHERE house = 'SUSPENSE'");
    env.sql("UPDATE offers SET commission_rate = 0.1");
    for (changes, constraint) in [
        (SUCCESS.to_owned(), begins),
        (FAILURE.to_owned(), begins),
        ("state = 'IN_DOUBT'".to_owned(), begins),
        ("state = 'REVIEW'".to_owned(), begins),
        (format!("account_id = {}", other.wallet.0), begins),
        (format!("organisation_id = {}", other.authority.organisation.0), begins),
        (format!("account_id = {system_account}"), begins),
        (format!("account_id = {}", commission_account(&env, &merchant)), begins),
        ("account_id = 999999".to_owned(), begins),
        ("currency = 'ZAR'".to_owned(), begins),
        (format!("commission_account_id = {others}"), begins),
        (format!("commission_account_id = {}", merchant.wallet.0), begins),
        (format!("commission_account_id = {system_account}"), begins),
        ("product = 'GAS'".to_owned(), begins),
        ("net = 100000000, total = 100000150, commission = 0".to_owned(), "accounts_check"),
        ("net = 48000, total = 48150, commission = 0".to_owned(), ""),
    ] {
        let forged = server.runs(&copy_of(order.id, &changes)).await;
        match forged {
            Err(said) => assert!(!constraint.is_empty() && said.contains(constraint), "{changes}: {said}"),
            Ok(_) => assert_eq!(constraint, "", "{changes}"),
        }
    }
    // The last copy is as valid as a server's own purchase: its total is held.
    assert_eq!(env.balances(merchant.wallet), "50000|49300");
    env.sql("UPDATE accounts SET status = 'SUSPENDED'");
    let said = server.is_refused(&copy_of(order.id, "id = 5000, subscriber_identifier = 'x'")).await;
    assert!(said.contains(begins), "{said}");
    let worker = Login::of(&env.database, "test_worker").await;
    let said = worker.is_refused(&copy_of(order.id, "id = 5000")).await;
    assert!(
        said.contains("purchases_of_a_batch_are_as_its_line"),
        "a worker buys lines of batches only: {said}"
    );
    env.completes_begin(order.id.0 + 1000);
}

#[tokio::test]
async fn a_forged_success_takes_what_was_held_and_earns_no_more_than_its_offer_grants() {
    for login in LOGINS {
        let env = env().await;
        let merchant = env.merchant_with(50_000).await;
        let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
        let forger = Login::of(&env.database, login).await;
        forger.runs(&format!("UPDATE purchases SET {SUCCESS} WHERE id = {}", order.id.0)).await.unwrap();
        assert_eq!(env.balances(merchant.wallet), "48850|0", "{login}");
        let moves =
            "COMMISSION_EXPENSE|COMMISSION|100\nCURRENT|FEE_INCOME|150\nCURRENT|PROVIDER_PAYABLE|1000";
        assert_eq!(moves_of(&env, order.id), moves, "{login}");
        for again in
            [SUCCESS, FAILURE, "fence = fence", "sealed_token = 'b'", "ended_at = NULL, state = 'IN_DOUBT'"]
        {
            let said = forger.is_refused(&format!("UPDATE purchases SET {again}")).await;
            assert!(said.contains("has ended"), "{login}: {said}");
        }
        assert_eq!(env.balances(merchant.wallet), "48850|0", "{login}");
        env.completes_end(order.id);
    }
}

#[tokio::test]
async fn a_forged_failure_gives_back_exactly_its_own_hold_once() {
    for login in LOGINS {
        let env = env().await;
        let merchant = env.merchant_with(50_000).await;
        let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
        env.reserved(&merchant, "04257670466", 2_000).await;
        let forger = Login::of(&env.database, login).await;
        let fails = format!("UPDATE purchases SET {FAILURE} WHERE id = {}", order.id.0);
        forger.runs(&fails).await.unwrap();
        assert_eq!(env.balances(merchant.wallet), "50000|2150", "{login}");
        assert!(forger.is_refused(&fails).await.contains("has ended"), "{login}");
        assert_eq!(env.balances(merchant.wallet), "50000|2150", "{login}");
        assert_eq!(moves_of(&env, order.id), "", "{login}");
        env.completes_end(order.id);
    }
}

#[tokio::test]
async fn the_same_end_for_many_purchases_at_once_moves_each_ones_own() {
    let env = env().await;
    let merchants = [env.merchant_with(50_000).await, env.merchant_with(50_000).await];
    let mut orders = Vec::new();
    for (merchant, meter, net) in
        [(0, "04000000001", 1_000), (0, "04000000002", 2_000), (1, "04000000003", 3_000)]
    {
        orders.push(env.reserved(&merchants[merchant], meter, net).await.0.id);
    }
    let server = Login::of(&env.database, "test_server").await;
    server.runs(&format!("UPDATE purchases SET {SUCCESS}")).await.unwrap();
    assert_eq!(env.balances(merchants[0].wallet), "46700|0");
    assert_eq!(env.balances(merchants[1].wallet), "46850|0");
    let commission =
        "SELECT sum(posted) FROM accounts WHERE category = 'COMMISSION' GROUP BY organisation_id ORDER BY 1";
    assert_eq!(env.sql(commission), "100\n200");
    assert_eq!(env.count("journal_entries WHERE kind = 'SETTLE'"), 3);
    for order in orders {
        env.completes_end(order);
    }
}

#[tokio::test]
async fn an_incident_has_its_place_after_the_end_and_never_costs_a_wallet() {
    let env = env().await;
    let merchant = env.merchant_with(50_000).await;
    let (open, _) = env.reserved(&merchant, "04000000001", 1_000).await;
    let (successful, _) = env.reserved(&merchant, "04000000002", 1_000).await;
    env.records(&successful, vended("V1", 1_000)).await;
    let (failed, _) = env.reserved(&merchant, "04000000003", 1_000).await;
    env.records(&failed, purchase::Event::NeverSent { fence: FIRST }).await;
    let incident = |of: PurchaseId, kind: &str, vend: &str| {
        let of = of.0;
        format!(
            "INSERT INTO incidents (purchase_id, kind, at, provider_transaction) VALUES ({of}, '{kind}', now(), '{vend}')"
        )
    };
    for login in LOGINS {
        let forger = Login::of(&env.database, login).await;
        for forged in [
            incident(open.id, "LATE_VEND", "X"),
            incident(open.id, "SECOND_VEND", "X"),
            incident(successful.id, "LATE_VEND", "X"),
            incident(successful.id, "SECOND_VEND", "V1"),
            incident(failed.id, "SECOND_VEND", "X"),
            incident(PurchaseId(999_999), "LATE_VEND", "X"),
        ] {
            let said = forger.is_refused(&forged).await;
            assert!(said.contains("incidents_follow_an_end"), "{login}: {forged}: {said}");
        }
        let before = env.balances(merchant.wallet);
        forger.runs(&incident(failed.id, "LATE_VEND", login)).await.unwrap();
        assert!(
            forger
                .is_refused(&incident(failed.id, "LATE_VEND", login))
                .await
                .contains("incidents_one_per_vend")
        );
        assert_eq!(env.balances(merchant.wallet), before, "{login}");
    }
    assert_eq!(moves_of(&env, failed.id), ["SUSPENSE|PROVIDER_PAYABLE|1000"; 3].join("\n"));
}

#[tokio::test]
async fn no_serving_login_can_turn_a_guard_off() {
    let env = env().await;
    let merchant = env.merchant_with(50_000).await;
    env.reserved(&merchant, "04257670465", 1_000).await;
    for login in LOGINS {
        let forger = Login::of(&env.database, login).await;
        for (attempt, refusal) in [
            ("ALTER TABLE purchases DISABLE TRIGGER ALL", "must be owner"),
            ("ALTER TABLE postings DISABLE TRIGGER postings_move_balances", "must be owner"),
            ("DROP TRIGGER purchases_settle ON purchases", "must be owner"),
            ("ALTER TABLE accounts DROP CONSTRAINT accounts_check", "must be owner"),
            ("ALTER FUNCTION settle_purchases() RESET search_path", "must be owner"),
            ("ALTER FUNCTION settle_purchases() SECURITY INVOKER", "must be owner"),
            ("DROP FUNCTION chain_audit_line CASCADE", "must be owner"),
            ("SET session_replication_role = replica", "permission denied"),
            ("CREATE FUNCTION public.theirs() RETURNS int LANGUAGE sql AS 'SELECT 1'", "permission denied"),
            (
                "CREATE TRIGGER theirs BEFORE INSERT ON purchases EXECUTE FUNCTION refuse_to_reopen()",
                "permission denied",
            ),
            ("CREATE SCHEMA theirs", "permission denied"),
            ("SET ROLE test_owner", "permission denied"),
            ("SET SESSION AUTHORIZATION test_owner", "permission denied"),
            ("GRANT vendgate_operator TO test_server", "must have admin option"),
            ("SELECT audit_hash(l) FROM audit_log l", "permission denied"),
            ("SELECT settle_purchases()", "permission denied"),
        ] {
            let said = forger.is_refused(attempt).await;
            assert!(said.contains(refusal), "{login}: {attempt}: {said}");
        }
    }
    let open_to_all = "SELECT string_agg(oid::regprocedure::text, ' ') FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace AND has_function_privilege('public', oid, 'EXECUTE')";
    assert_eq!(env.sql(open_to_all), "");
    let without_path = "SELECT string_agg(oid::regprocedure::text, ' ') FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace
            AND (proconfig IS NULL OR NOT 'search_path=pg_catalog, public, pg_temp' = ANY (proconfig))";
    assert_eq!(env.sql(without_path), "");
}

impl TestEnv {
    /// Writes the history of a purchase that was ended with SQL. The environment's own checks of the books
    /// require it.
    pub fn completes_end(&self, purchase: PurchaseId) {
        self.sql(&format!(
            "INSERT INTO purchase_events (purchase_id, at, fact, state, fence, attempt)
             SELECT id, ended_at, 'VENDED', state, fence, attempt FROM purchases WHERE id = {}",
            purchase.0
        ));
    }

    /// The same for a purchase that was begun with SQL, and its attempt.
    fn completes_begin(&self, purchase: i64) {
        self.sql(&format!(
            "UPDATE purchases SET provider_reference = '20261122050000-999999' WHERE id = {purchase};
             INSERT INTO attempts SELECT id, 1, provider_code, provider_reference, created_at FROM purchases WHERE id = {purchase}"
        ));
    }
}
