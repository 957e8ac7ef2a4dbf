//! Inserts purchases into the database as the servers would have left them, without the triggers that move money.

use crate::office::{TestEnv, WHY};

/// The servers' sealing key in these tests.
pub const SEALING_KEY: &str = "0707070707070707070707070707070707070707070707070707070707070707";

/// A token for electricity, with the blanks that people write.
pub const TOKEN: &str = "0808 6259 4989 7426 3587";

/// A purchase in an open state.
pub struct OpenPurchase<'a> {
    pub state: &'a str,
    pub product: &'a str,
    pub subscriber: &'a str,
    /// Its age, as an interval.
    pub age: &'a str,
}

impl TestEnv {
    /// An environment whose organisation KGALE has a user, a wallet and an offer, and the wallet's number.
    pub fn with_a_till() -> (Self, String) {
        let env = Self::with_an_offer();
        let wallet = env.opens_wallet("KGALE");
        env.does(&["client", "create", "-o", "KGALE", "--name", "tills"]);
        let till =
            ["user", "create", "till", "-o", "KGALE", "--full-name", "Till One", "--role", "integrator"];
        let reached = ["--phone", "26771000001", "--email", "till@kgale.example", "--generate-password"];
        env.does(&[&till[..], &reached].concat());
        (env, wallet)
    }

    /// Inserts a purchase of BWP 100.00 with a charge of 1.50. Returns its number.
    pub fn inserts_purchase(&self, purchase: &OpenPurchase<'_>) -> String {
        let OpenPurchase { state, product, subscriber, age } = purchase;
        let id: i64 = self.sql("SELECT nextval('purchase_ids')").parse().unwrap();
        let sent = if *state == "RETRY_DUE" { "NULL, NULL" } else { "1, at" };
        let handling = if *state == "RETRY_DUE" { "MANAGED" } else { "SELF_MANAGED" };
        self.sql(&format!(
            "SET session_replication_role = replica;
             INSERT INTO purchases (id, reference, organisation_id, client_id, user_id, account_id, source_channel, language,
                 product, provider_code, subscriber_identifier, beneficiary_phone_number, currency, entry, charge, net, total,
                 commission, external_reference, source_tag, requester_sms, beneficiary_sms, requester_email, beneficiary_email,
                 subscriber_details, created_at, state, handling, fence, attempt, requests, window_closes_at, copies,
                 last_sent_at, provider_reference, due_at, request_id)
             SELECT {id}, 'TOP/2026/11/' || lpad('{id}', 10, '0'), o.id, c.id, u.id, a.id, 'POS', 'en', '{product}', 'BPC',
                 '{subscriber}', '26771234567', 'BWP', 10000, 150, 10000, 10150, 0, 'till-3/{id}', 'ussd-gateway-{id}',
                 true, true, true, true, 'K. MOLEFE', at, '{state}', '{handling}', 2, 1, 0, at + interval '30 minutes', {sent},
                 '20261120093000-' || lpad('{id}', 6, '0'), now(), 'request-{id}'
             FROM (SELECT now() - interval '{age}' AS at) t, organisations o
             JOIN oauth_clients c ON c.organisation_id = o.id JOIN users u ON u.organisation_id = o.id
             JOIN accounts a ON a.organisation_id = o.id AND a.category = 'CURRENT'
             WHERE o.code = 'KGALE';
             INSERT INTO attempts SELECT id, 1, provider_code, provider_reference, created_at FROM purchases WHERE id = {id};
             INSERT INTO purchase_events (purchase_id, at, fact, detail, state, fence, attempt)
             SELECT {id}, p.created_at + e.after, e.fact, e.detail, e.state, e.fence, 1 FROM purchases p, (VALUES
                 (interval '0', 'RESERVED', NULL, 'IN_FLIGHT', 1), (interval '2 minutes', 'LOST', 'timed_out', 'IN_DOUBT', 1),
                 (interval '31 minutes', 'CLAIMED', NULL, 'IN_DOUBT', 2),
                 (interval '31 minutes', 'NO_RECORD', NULL, 'IN_DOUBT', 2),
                 (interval '32 minutes', 'WINDOW_CLOSED', NULL, 'REVIEW', 2)) e (after, fact, detail, state, fence)
             WHERE p.id = {id};
             UPDATE accounts SET held = held + 10150 FROM purchases p WHERE p.id = {id} AND accounts.id = p.account_id"
        ));
        id.to_string()
    }

    /// Inserts a purchase that waits for an operator's decision. Returns its number.
    pub fn inserts_purchase_in_review(&self, product: &str, subscriber: &str) -> String {
        self.inserts_purchase(&OpenPurchase { state: "REVIEW", product, subscriber, age: "1 hour" })
    }

    /// Inserts an incident: a vend that was found after its purchase had ended. Returns the incident's number.
    pub fn inserts_late_vend(&self, purchase: &str) -> String {
        self.sql(&format!(
            "SET session_replication_role = replica;
             INSERT INTO incidents (purchase_id, kind, at, provider_transaction) VALUES ({purchase}, 'LATE_VEND', now(), 'LATE-1');
             WITH entry AS (
                 INSERT INTO journal_entries (kind, purchase_id, posted_at) VALUES ('INCIDENT', {purchase}, now()) RETURNING id)
             INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
             SELECT entry.id, s.id, p.id, 'BWP', 10000 FROM entry, accounts s, accounts p
             WHERE s.house = 'SUSPENSE' AND p.house = 'PROVIDER_PAYABLE' AND s.currency = 'BWP' AND p.currency = 'BWP'"
        ));
        self.sql("SELECT max(id) FROM incidents")
    }

    /// Enters an operator's decision, with a token on standard input and the servers' key.
    pub fn confirms_vend(&self, arguments: &[&str], token: &str) -> crate::office::Outcome {
        let key = [("VENDGATE__SEALING__CURRENT__ID", "1"), ("VENDGATE__SEALING__CURRENT__KEY", SEALING_KEY)];
        self.types_with(&key, &[&["--json", "purchases", "resolve"], arguments, &WHY].concat(), token)
    }

    /// `posted|held` of KGALE's wallet.
    pub fn wallet(&self) -> String {
        self.sql("SELECT posted, held FROM accounts WHERE category = 'CURRENT'")
    }
}
