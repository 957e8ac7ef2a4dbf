//! The schema's own guards: each test tries to break one with SQL, past the program.

use std::time::Duration;

use ledger::{Category, EntryKind, SystemAccount};
use local_postgres::LocalPostgresError;
use purchase::{Event, Failure, Handling, RefusalSource, SourceChannel, StateName};
use vend::{Product, Refusal, RefusalReason};

use crate::env::{FIRST, TestEnv, aged, pula, vended};

impl TestEnv {
    /// What Postgres says when the superuser runs `sql`, which must fail.
    pub fn refusal_of(&self, sql: &str) -> String {
        match self.database.run_sql(sql) {
            Ok(rows) => panic!("allowed: {sql}: {rows}"),
            Err(LocalPostgresError::ProgramFailed { said, .. }) => said,
            Err(other) => panic!("{sql}: {other}"),
        }
    }

    /// The same in a role.
    pub fn refusal_in(&self, role: &str, sql: &str) -> String {
        self.refusal_of(&format!("SET ROLE {role}; {sql}"))
    }

    /// The words that a column's check constraint lists.
    pub fn listed(&self, table: &str, column: &str) -> Vec<String> {
        let definition = self.sql(&format!(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint
             WHERE conrelid = '{table}'::regclass AND contype = 'c' AND conname = '{table}_{column}_check'"
        ));
        let mut words: Vec<String> = definition.split('\'').skip(1).step_by(2).map(str::to_owned).collect();
        words.sort_unstable();
        words
    }
}

fn sorted<const N: usize>(words: [&str; N]) -> Vec<String> {
    let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    words.sort_unstable();
    words
}

#[tokio::test]
async fn the_words_of_the_schema_are_those_of_the_program() {
    let env = TestEnv::open().await;
    assert_eq!(env.listed("purchases", "state"), sorted(StateName::ALL.map(StateName::as_str)));
    assert_eq!(env.listed("purchases", "handling"), sorted(Handling::ALL.map(Handling::as_str)));
    assert_eq!(env.listed("accounts", "handling"), sorted(Handling::ALL.map(Handling::as_str)));
    assert_eq!(env.listed("accounts", "category"), sorted(Category::ALL.map(Category::as_str)));
    assert_eq!(env.listed("accounts", "house"), sorted(SystemAccount::ALL.map(SystemAccount::as_str)));
    assert_eq!(env.listed("journal_entries", "kind"), sorted(EntryKind::ALL.map(EntryKind::as_str)));
    assert_eq!(env.listed("products", "product"), sorted(Product::ALL.map(Product::as_str)));
    assert_eq!(env.listed("unmatched_vends", "product"), sorted(Product::ALL.map(Product::as_str)));
    let channels = SourceChannel::ALL.map(SourceChannel::as_str);
    assert_eq!(env.listed("purchases", "source_channel"), sorted(channels));
    let incidents = [purchase::Incident::LateVend, purchase::Incident::SecondVend];
    assert_eq!(env.listed("incidents", "kind"), sorted(incidents.map(purchase::Incident::as_str)));
    assert_eq!(env.listed("purchases", "failure"), sorted(["REFUSED", "NO_RECORD", "OPERATOR"]));
}

#[tokio::test]
async fn open_means_the_same_in_the_index_as_in_the_program() {
    let env = TestEnv::open().await;
    let index = "SELECT pg_get_expr(indpred, indrelid) FROM pg_index
                 WHERE indexrelid = 'purchases_one_open_per_subscriber'::regclass";
    let mut open: Vec<String> = env.sql(index).split('\'').skip(1).step_by(2).map(str::to_owned).collect();
    open.sort_unstable();
    let mut expected: Vec<_> =
        StateName::ALL.into_iter().filter(|state| state.is_open()).map(StateName::as_str).collect();
    expected.sort_unstable();
    assert_eq!(open, expected);
}

#[tokio::test]
async fn a_subscriber_has_one_open_purchase_and_every_reason_to_fail_is_kept() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(1_000_000).await;
    let (order, _) = env.reserved(&merchant, "04000000001", 1_000).await;
    env.reserved(&merchant, "04000000002", 1_000).await;
    let second = "UPDATE purchases SET subscriber_identifier = '04000000001' WHERE subscriber_identifier = '04000000002'";
    assert!(env.refusal_of(second).contains("purchases_one_open_per_subscriber"));
    env.records(&order, vended("V1", 1_000)).await;

    for (number, reason) in (10..).zip(RefusalReason::ALL) {
        let (order, _) = env.reserved(&merchant, &format!("040000000{number}"), 1_000).await;
        let refusal = Refusal::because(reason);
        let event = Event::Refused { fence: FIRST, refusal: refusal.clone(), source: RefusalSource::Answer };
        env.records(&order, event).await;
        let record = env.store.get_record(order.id).await.unwrap();
        assert_eq!(record.failure, Some(Failure::Refused(refusal)));
    }
}

#[tokio::test]
async fn a_purchase_is_settled_once_and_never_changes_after_its_end() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    env.records(&order, vended("V1", 1_000)).await;
    let second = format!(
        "INSERT INTO journal_entries (kind, purchase_id, posted_at) VALUES ('SETTLE', {}, now())",
        order.id.0
    );
    assert!(env.refusal_of(&second).contains("journal_entries_one_settlement"));
    for change in ["state = 'IN_DOUBT'", "sealed_token = NULL", "total = total", "fence = fence + 1"] {
        assert!(env.refusal_of(&format!("UPDATE purchases SET {change}")).contains("has ended"), "{change}");
    }
}

#[tokio::test]
async fn a_row_that_contradicts_itself_is_refused() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    env.reserved(&merchant, "04257670465", 1_000).await;
    for change in [
        "state = 'DONE'",
        "state = 'SUCCESSFUL', copies = NULL, last_sent_at = NULL, lease_until = NULL, ended_at = now(), provider_transaction = 'V1'",
        "state = 'FAILED', copies = NULL, last_sent_at = NULL, lease_until = NULL, ended_at = now()",
        "sealed_token = 'x', token_key_id = 1",
        "state = 'RETRY_DUE', copies = NULL, last_sent_at = NULL",
        "copies = NULL",
        "last_sent_at = NULL",
        "ended_at = now()",
        "provider_transaction = 'V1'",
        "token_key_id = 1",
        "failure = 'REFUSED'",
        "units_quantity = 1",
        "total = total + 1",
        "net = 0, total = charge",
        "charge = -1, total = net - 1",
        "commission = -1",
        "entry = 0",
        "currency = 'pula'",
        "fence = 0",
        "attempt = 0",
        "commission_account_id = NULL",
        "units_quantity = 'NaN', units_unit = 'kWh'",
        "cost = 1, vat = 1, levy = 1, regulatory_fee = 1, provider_charge = 1",
        "source_tag = ''",
        "source_tag = repeat('x', 101)",
    ] {
        let said = env.refusal_of(&format!("UPDATE purchases SET {change}"));
        assert!(said.contains("violates check constraint"), "{change}: {said}");
    }
}

#[tokio::test]
async fn no_wallet_falls_below_zero_and_no_malformed_posting_is_accepted() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    for change in ["posted = -1, held = 0", "held = posted + 1", "held = -1", "held = NULL", "currency = 'P'"]
    {
        let said = env.refusal_of(&format!("UPDATE accounts SET {change} WHERE id = {}", merchant.wallet.0));
        assert!(said.contains("violates check constraint"), "{change}: {said}");
    }
    let stored_balance = "UPDATE accounts SET posted = 1, held = 0 WHERE house = 'FUNDING'";
    assert!(env.refusal_of(stored_balance).contains("violates check constraint"));
    for values in ["1, 1, 'BWP', 5", "1, 2, 'BWP', 0", "1, 2, 'BWP', -5", "1, 2, 'bwp', 5"] {
        let said = env.refusal_of(&format!(
            "INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
             SELECT id, {values} FROM journal_entries LIMIT 1"
        ));
        assert!(said.contains("violates check constraint"), "{values}: {said}");
    }
    let nothing =
        back_office::top_up(env.operator.database(), merchant.wallet, pula(0), crate::env::act()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    assert_eq!(env.balances(merchant.wallet), "50000|0");
}

#[tokio::test]
async fn recorded_rows_are_changed_by_neither_the_servers_nor_the_owner() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    env.records(&order, vended("V1", 1_000)).await;
    for (table, column) in [
        ("journal_entries", "kind"),
        ("postings", "amount"),
        ("attempts", "number"),
        ("purchase_events", "fact"),
        ("provider_replies", "sealed_reply"),
    ] {
        for change in [
            format!("UPDATE {table} SET {column} = {column}"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table}"),
        ] {
            for role in ["vendgate_api", "vendgate_operator"] {
                assert!(env.refusal_in(role, &change).contains("permission denied"), "{role}: {change}");
            }
            assert!(env.refusal_of(&change).contains("append-only"), "{change}");
        }
    }
}

#[tokio::test]
async fn what_others_refer_to_cannot_go() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    env.reserved(&merchant, "04257670465", 1_000).await;
    for table in ["purchases", "accounts", "products", "providers", "organisations", "oauth_clients", "users"]
    {
        for change in [format!("DELETE FROM {table}"), format!("TRUNCATE {table} CASCADE")] {
            for role in ["vendgate_api", "vendgate_operator"] {
                assert!(env.refusal_in(role, &change).contains("permission denied"), "{role}: {change}");
            }
            assert!(env.refusal_of(&change).contains("append-only"), "{change}");
        }
    }
}

#[tokio::test]
async fn the_servers_may_change_only_the_state_of_a_purchase() {
    let env = TestEnv::open().await;
    let columns = env.sql(
        "SELECT string_agg(column_name, ' ' ORDER BY column_name) FROM information_schema.column_privileges
         WHERE grantee = 'vendgate_api' AND privilege_type = 'UPDATE' AND table_name IN ('purchases', 'accounts')
           AND column_name IN ('total', 'net', 'account_id', 'organisation_id', 'subscriber_identifier', 'id', 'created_at',
               'window_closes_at', 'handling', 'status', 'category', 'posted', 'held', 'state')",
    );
    assert_eq!(columns, "id state");
    for forbidden in [
        "INSERT INTO accounts (organisation_id, name, currency, category, posted, held) VALUES (1, 'x', 'BWP', 'TOPUP', 1, 0)",
        "INSERT INTO offers (organisation_id, product, provider_code, currency) VALUES (1, 'WATER', 'BPC', 'BWP')",
        "UPDATE providers SET repeat_is_safe = true",
        "UPDATE products SET pattern = ''",
        "DELETE FROM closed_references",
    ] {
        assert!(env.refusal_in("vendgate_api", forbidden).contains("permission denied"), "{forbidden}");
    }
}

#[tokio::test]
async fn a_name_at_a_provider_is_used_for_one_attempt_only() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04000000001", 1_000).await;
    let mut of_the_same_name = env.order(&merchant, "04000000002", 1_000).await;
    of_the_same_name.provider_reference = order.provider_reference;
    let refused = env.store.reserve(of_the_same_name).await;
    assert!(matches!(refused, Err(store::ReserveError::Failed(_))), "{refused:?}");
    assert_eq!(env.balances(merchant.wallet), "50000|1150");
}

#[tokio::test]
async fn every_foreign_key_is_indexed_and_every_amount_has_a_currency() {
    let env = TestEnv::open().await;
    let bare = "SELECT c.conrelid::regclass || ' ' || c.conname FROM pg_constraint c
                WHERE c.contype = 'f' AND NOT EXISTS (
                    SELECT FROM pg_index i WHERE i.indrelid = c.conrelid AND i.indpred IS NULL
                    AND (i.indkey::int2[])[0:cardinality(c.conkey) - 1] @> c.conkey)";
    assert_eq!(env.sql(bare), "");
    let amounts = "'posted', 'held', 'entry', 'charge', 'net', 'total', 'commission', 'cost', 'vat', 'levy',
                   'regulatory_fee', 'provider_charge', 'amount', 'amount_min', 'amount_max', 'fee_fixed', 'fee_floor',
                   'fee_cap'";
    let without_currency = format!(
        "SELECT DISTINCT table_name FROM information_schema.columns c
         WHERE table_schema = 'public' AND column_name IN ({amounts}) AND NOT EXISTS (
             SELECT FROM information_schema.columns s WHERE s.table_name = c.table_name AND s.column_name = 'currency')"
    );
    assert_eq!(env.sql(&without_currency), "");
    let not_bigint = format!(
        "SELECT table_name || '.' || column_name FROM information_schema.columns
         WHERE table_schema = 'public' AND column_name IN ({amounts}) AND data_type <> 'bigint'"
    );
    assert_eq!(env.sql(&not_bigint), "");
    let floats = "SELECT table_name || '.' || column_name FROM information_schema.columns
                  WHERE table_schema = 'public' AND data_type IN ('real', 'double precision', 'money')";
    assert_eq!(env.sql(floats), "");
}

#[tokio::test]
async fn no_statement_of_the_lanes_reads_a_table_from_end_to_end() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    for number in 0..5 {
        let (order, _) = env.reserved(&merchant, &format!("0400000000{number}"), 1_000).await;
        env.records(&order, vended("V1", 1_000)).await;
    }
    let mut keyed = env.order_under("till-3/0001", &merchant, "04000000009", 1_000).await;
    let (client, key) = (merchant.authority.client, keyed.keyed.clone().unwrap().key);
    assert_eq!(env.store.close_key(merchant.authority.organisation, client, key).await.unwrap(), None);
    keyed.pending = aged(Duration::from_secs(15));
    env.store.reserve(keyed).await.unwrap_err();
    // Statistics reach the view when a session that gathered them is idle or gone.
    env.sql(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    let scans = "SELECT string_agg(relname, ' ') FROM pg_stat_user_tables
                 WHERE seq_scan > 0 AND relname IN ('purchases', 'attempts', 'closed_references', 'closed_keys',
                     'journal_entries', 'purchase_events', 'provider_replies', 'token_families', 'access_tokens')";
    assert_eq!(env.sql(scans), "");
}
