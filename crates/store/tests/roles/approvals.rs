//! The approval of another person cannot be got round in SQL: each way that we could think of, with the logins of an installation.

use purchase::PurchaseId;
use store::{Approval, Decision, DecisionError};
use test_kit::waiting::until;
use vend::{RawReply, Vend};

use crate::{
    env::{Merchant, TestEnv, act, vend},
    forging::SUCCESS,
    installation::{Login, env},
};

/// Two more people of finance, and one more administrator.
const SECOND: &str = "
    DO $$ BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'test_second') THEN
            CREATE ROLE test_second LOGIN PASSWORD 'test_second' IN ROLE vendgate_finance, vendgate_administrator;
        END IF;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$";

const ABOVE: &str = "acts_above_the_threshold_are_approved";

async fn guarded() -> (TestEnv, Merchant) {
    let env = env().await;
    let merchant = env.merchant_with(50_000).await;
    env.sql(SECOND);
    let administrator = Login::of(&env.database, "test_administrator").await;
    for act in ["TOP_UP", "ADJUST", "RESOLVE", "DECLARE"] {
        administrator
            .runs(&format!("SELECT set_approval_threshold('{act}', 0, '', 'rule 4')"))
            .await
            .unwrap();
    }
    (env, merchant)
}

fn request(wallet: i64, minor: i64) -> String {
    format!(
        "SELECT request_approval('TOP_UP', '{{\"wallet\": {wallet}, \"against\": \"FUNDING\", \"takes\": false, \"minor\": {minor},
             \"currency\": \"BWP\"}}', '', 'a transfer', NULL, NULL, NULL)"
    )
}

#[tokio::test]
async fn a_payment_is_approved_by_another_person_of_finance_and_posted_once() {
    let (env, merchant) = guarded().await;
    let wallet = merchant.wallet.0;
    let finance = Login::of(&env.database, "test_finance").await;
    let direct = format!("SELECT post_payment({wallet}, 'TOP_UP', 'FUNDING', false, 5, NULL, '', 'x')");
    assert!(finance.is_refused(&direct).await.contains(ABOVE));
    let inner = direct.replace("post_payment", "post_checked_payment");
    assert!(finance.is_refused(&inner).await.contains("permission denied"));

    let id = finance.runs(&request(wallet, 5)).await.unwrap()[0][0].clone();
    let approve = format!("SELECT approve_request({id}, 'seen')");
    let own = finance.is_refused(&approve).await;
    assert!(own.contains("approvals_are_of_another_person"), "{own}");
    for (login, said) in
        [("test_support", "permission denied"), ("test_administrator", "needs the role finance")]
    {
        let refused = Login::of(&env.database, login).await.is_refused(&approve).await;
        assert!(refused.contains(said), "{login}: {refused}");
    }
    let second = Login::of(&env.database, "test_second").await;
    // An approval covers nothing but its own act: not even what else is in its transaction.
    let more = second.is_refused(&format!("BEGIN; {approve}; {direct}")).await;
    assert!(more.contains(ABOVE), "{more}");
    second.runs("ROLLBACK").await.unwrap();
    let as_resolution = second.is_refused(&format!("SELECT approve_resolution({id}, 'seen')")).await;
    assert!(as_resolution.contains("approvals_are_carried_out"), "{as_resolution}");
    assert_eq!(env.balances(merchant.wallet), "50000|0");
    second.runs(&approve).await.unwrap();
    assert_eq!(env.balances(merchant.wallet), "50005|0");
    let twice = second.is_refused(&approve).await;
    assert!(twice.contains("approval_decisions_pkey"), "{twice}");
    assert_eq!(env.balances(merchant.wallet), "50005|0");

    let late = finance.runs(&request(wallet, 6)).await.unwrap()[0][0].clone();
    env.sql(&format!("SET session_replication_role = replica; UPDATE approval_requests SET expires_at = now() WHERE id = {late}"));
    let expired = second.is_refused(&format!("SELECT approve_request({late}, 'seen')")).await;
    assert!(expired.contains("approvals_are_in_time"), "{expired}");
    for change in ["UPDATE approval_requests SET requested_by = 'x'", "DELETE FROM approval_decisions"] {
        assert!(second.is_refused(change).await.contains("permission denied"), "{change}");
        assert!(env.database.run_sql(change).unwrap_err().to_string().contains("append-only"), "{change}");
    }
}

#[tokio::test]
async fn neither_support_nor_an_administrator_posts_a_payment() {
    let env = env().await;
    let merchant = env.merchant_with(50_000).await;
    for login in ["test_support", "test_administrator"] {
        let person = Login::of(&env.database, login).await;
        for kind in ["TOP_UP", "ADJUST"] {
            let pays = format!(
                "SELECT post_payment({}, '{kind}', 'FUNDING', false, 5, NULL, '', 'x')",
                merchant.wallet.0
            );
            let said = person.is_refused(&pays).await;
            assert!(
                said.contains("permission denied") || said.contains("needs the role finance"),
                "{login}: {said}"
            );
        }
    }
    assert_eq!(env.balances(merchant.wallet), "50000|0");
}

#[tokio::test]
async fn a_threshold_is_lowered_and_a_connection_declared_only_with_an_approval() {
    let (env, _) = guarded().await;
    let administrator = Login::of(&env.database, "test_administrator").await;
    for lower in ["NULL", "1"] {
        let lowered = format!("SELECT set_approval_threshold('TOP_UP', {lower}, '', 'x')");
        assert!(administrator.is_refused(&lowered).await.contains(ABOVE), "{lower}");
    }
    let finance = Login::of(&env.database, "test_finance").await;
    let not_mine = finance.is_refused("SELECT set_approval_threshold('TOP_UP', 0, '', 'x')").await;
    assert!(not_mine.contains("permission denied"), "{not_mine}");
    let by_hand = administrator.is_refused("UPDATE approval_thresholds SET above = NULL").await;
    assert!(by_hand.contains("permission denied"), "{by_hand}");

    administrator.runs("UPDATE providers SET name = 'B', worker_slots = 3").await.unwrap();
    for declared in ["repeat_is_safe = NOT repeat_is_safe", "settles_within_s = 5"] {
        let said = administrator.is_refused(&format!("UPDATE providers SET {declared}")).await;
        assert!(said.contains(ABOVE), "{declared}: {said}");
    }
    let new = "INSERT INTO providers (code, name, not_found_counts) VALUES ('NEW', 'New', true)";
    assert!(administrator.is_refused(new).await.contains(ABOVE));
}

fn vouched(transaction: &str) -> Decision {
    let raw_reply = RawReply::default();
    Decision::Vended(Box::new(Vend { breakdown: None, raw_reply, ..vend(transaction, 1_000) }))
}

async fn in_review(env: &TestEnv, merchant: &Merchant, meter: &str) -> PurchaseId {
    let (order, _) = env.reserved(merchant, meter, 1_000).await;
    let PurchaseId(number) = order.id;
    env.sql(&format!(
        "SET session_replication_role = replica;
         UPDATE purchases SET state = 'REVIEW', lease_until = NULL, copies = 1, last_sent_at = now(), window_closes_at = now()
         WHERE id = {number}"
    ));
    order.id
}

fn ask_for_vend(purchase: i64, transaction: &str) -> String {
    let units = vend(transaction, 1_000).units.unwrap();
    let arguments = format!(
        "{{\"purchase\": {purchase}, \"provider_transaction\": \"{transaction}\", \"quantity\": \"{}\", \"unit\": \"{}\"}}",
        units.quantity, units.unit
    );
    format!(
        "SELECT request_approval('RESOLVE', '{arguments}', '', 'their letter', 1, 'sealed', sha256('a token'))"
    )
}

#[tokio::test]
async fn a_person_ends_a_purchase_as_vended_only_by_exactly_what_was_approved() {
    let (env, merchant) = guarded().await;
    let id @ PurchaseId(number) = in_review(&env, &merchant, "04257670465").await;
    for login in ["test_administrator", "test_operator"] {
        let forger = Login::of(&env.database, login).await;
        let said = forger.is_refused(&format!("UPDATE purchases SET {SUCCESS} WHERE id = {number}")).await;
        assert!(said.contains(ABOVE), "{login}: {said}");
    }
    let unapproved = env.operator.decide(id, vouched("V-1"), act()).await.unwrap_err();
    assert!(matches!(unapproved, DecisionError::Refused(_)), "{unapproved:?}");

    let administrator = Login::of(&env.database, "test_administrator").await;
    let ask = ask_for_vend(number, "V-1");
    let request: i64 = administrator.runs(&ask).await.unwrap()[0][0].parse().unwrap();
    let operator = Login::of(&env.database, "test_operator").await;
    let idle = operator.is_refused(&format!("SELECT approve_resolution({request}, 'seen')")).await;
    assert!(idle.contains("approvals_are_carried_out"), "an approval without its act: {idle}");
    let approval = || Approval { request, reason: "seen".to_owned() };
    let other = env.operator.decide_approved(id, vouched("V-2"), act(), approval()).await.unwrap_err();
    assert!(matches!(other, DecisionError::Refused(_)), "{other:?}");
    assert_eq!(env.balances(merchant.wallet), "50000|1150");
    env.operator.decide_approved(id, vouched("V-1"), act(), approval()).await.unwrap();
    assert_eq!(env.balances(merchant.wallet), "48850|0");
    assert_eq!(env.count("approval_decisions WHERE decided_by = 'test_operator'"), 1);
}

#[tokio::test]
async fn a_listed_purchase_and_one_above_the_threshold_are_released_only_by_two_people() {
    let (env, merchant) = guarded().await;
    let administrator = Login::of(&env.database, "test_administrator").await;
    let small = in_review(&env, &merchant, "04257670465").await;
    let listed = in_review(&env, &merchant, "04257670466").await;
    let large = in_review(&env, &merchant, "04257670467").await;
    env.sql(&format!(
        "SET session_replication_role = replica;
         INSERT INTO reconciliations (id, provider_code, file_name, file_sha256, covers_from, covers_until, tolerance_s, actor, reason)
         OVERRIDING SYSTEM VALUE
         VALUES (1, 'BPC', 'bpc.csv', sha256(''), now() - interval '1 day', now(), 0, 'x', 'x');
         INSERT INTO reconciliation_sightings (purchase_id, reconciliation_id) VALUES ({}, 1)",
        listed.0
    ));
    env.operator.decide(small, Decision::NotVended, act()).await.unwrap();
    let set = |above: i64| format!("SELECT set_approval_threshold('RELEASE', {above}, '', 'rule 4')");
    administrator.runs(&set(1_150)).await.unwrap();
    let refused = env.operator.decide(listed, Decision::NotVended, act()).await;
    assert!(
        matches!(refused, Err(DecisionError::Refused(_))),
        "no threshold lets one person do that: {refused:?}"
    );
    administrator.runs(&set(1_149)).await.unwrap();
    let refused = env.operator.decide(large, Decision::NotVended, act()).await;
    assert!(matches!(refused, Err(DecisionError::Refused(_))), "{refused:?}");
    assert_eq!(env.balances(merchant.wallet), "50000|2300");
    let taken_away = Login::of(&env.database, "test_operator")
        .await
        .is_refused("DELETE FROM reconciliation_sightings")
        .await;
    assert!(taken_away.contains("waits for a decision"), "{taken_away}");
    for login in ["test_operator", "test_administrator"] {
        let person = Login::of(&env.database, login).await;
        for state in ["IN_DOUBT", "RETRY_DUE"] {
            let sent_back = format!("UPDATE purchases SET state = '{state}' WHERE id = {}", listed.0);
            let said = person.is_refused(&sent_back).await;
            assert!(said.contains("waits for a decision"), "{login} {state}: {said}");
        }
    }
    let ask = format!(
        "SELECT request_approval('RELEASE', '{{\"purchase\": {}}}', '', 'x', NULL, NULL, NULL)",
        listed.0
    );
    let request: i64 = administrator.runs(&ask).await.unwrap()[0][0].parse().unwrap();
    let approval = Approval { request, reason: "seen".to_owned() };
    let unaware = env.operator.decide_approved(listed, Decision::NotVended, act(), approval).await;
    assert!(
        matches!(unaware, Err(DecisionError::Refused(_))),
        "it was not said that a statement lists it: {unaware:?}"
    );
    administrator.runs(&format!("SELECT reject_request({request}, 'not said')")).await.unwrap();

    for id in [listed, large] {
        let ask = format!(
            "SELECT request_approval('RELEASE', '{{\"purchase\": {}, \"despite_statement\": \"bpc.csv\"}}', '', 'their letter', NULL, NULL, NULL)",
            id.0
        );
        let request: i64 = administrator.runs(&ask).await.unwrap()[0][0].parse().unwrap();
        let operator = Login::of(&env.database, "test_operator").await;
        let idle = operator.is_refused(&format!("SELECT approve_resolution({request}, 'seen')")).await;
        assert!(idle.contains("approvals_are_carried_out"), "an approval without its act: {idle}");
        let approval = || Approval { request, reason: "seen".to_owned() };
        let other = env.operator.decide_approved(id, vouched("V-9"), act(), approval()).await;
        assert!(matches!(other, Err(DecisionError::Refused(_))), "it was approved as not vended: {other:?}");
        env.operator.decide_approved(id, Decision::NotVended, act(), approval()).await.unwrap();
    }
    assert_eq!(env.balances(merchant.wallet), "50000|0");
}

#[tokio::test]
async fn a_decision_is_refused_while_a_request_waits_also_if_both_are_made_at_once() {
    let (env, merchant) = guarded().await;
    let first = in_review(&env, &merchant, "04257670465").await;
    let administrator = Login::of(&env.database, "test_administrator").await;
    // The request holds the lock of its purchase. The decision cannot see it yet, and waits for its commit.
    let request = administrator.runs(&format!("BEGIN; {}", ask_for_vend(first.0, "V-1"))).await.unwrap();
    let commits = async {
        until("the decision waits", || env.count("pg_locks WHERE NOT granted") > 0).await;
        administrator.runs("COMMIT").await.unwrap();
    };
    let (decided, ()) = tokio::join!(env.operator.decide(first, Decision::NotVended, act()), commits);
    let Err(DecisionError::Refused(cause)) = decided else { panic!("{decided:?}") };
    assert!(format!("{cause:?}").contains("decisions_wait_for_open_requests"), "{cause:?}");
    assert_eq!(env.balances(merchant.wallet), "50000|1150", "nothing was refunded");

    let second = Login::of(&env.database, "test_second").await;
    second.runs(&format!("SELECT reject_request({}, 'not theirs')", request[0][0])).await.unwrap();
    env.operator.decide(first, Decision::NotVended, act()).await.unwrap();
    assert_eq!(env.balances(merchant.wallet), "50000|0");
    let late = administrator.is_refused(&ask_for_vend(first.0, "V-1")).await;
    assert!(late.contains("requests_are_about_purchases_in_review"), "{late}");
}
