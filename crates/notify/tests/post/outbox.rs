//! An outbox in its own database, with purchases for which messages are queued.

use std::sync::Arc;

use database::DatabaseSettings;
use local_postgres::LocalDatabase;
use messages::Messages;
use notify::{Gateway, Gateways, Notifier, NotifySettings};
use purchase::Timing;
use store::{Aad, Store};
use test_kit::{
    database::{WORKER, add_logins, migrated},
    purchases::{connect_store, sealing_keys},
};
use tokio::runtime::Handle;

use crate::{doubles::Inbox, env::TOKEN};

pub struct Outbox {
    database: LocalDatabase,
    store: Store,
}

const USER: &str = "
    INSERT INTO organisations (code, name, environment) VALUES ('S1', 'Shop', 'STAGING');
    INSERT INTO users (organisation_id, username, password_hash, full_name, role, phone_number, email)
    SELECT id, 'till', '$argon2id$', 'Till', 'INTEGRATOR', '26772000000', 'till@shop.example' FROM organisations;
    INSERT INTO providers (code, name) VALUES ('BPC', 'Botswana Power');
    INSERT INTO accounts (organisation_id, name, currency, category, posted, held)
    SELECT id, 'Till', 'BWP', 'CURRENT', 0, 0 FROM organisations;";

impl Outbox {
    pub async fn open() -> Self {
        let database = migrated();
        add_logins(&database);
        database.run_sql(USER).unwrap();
        let settings = DatabaseSettings::for_database(database.url_as(WORKER, WORKER));
        let store = connect_store(settings, Timing::default(), Handle::current()).await;
        Self { database, store }
    }

    /// Inserts successful purchases with these numbers. For each, the messages of `notices` are queued: recipients and
    /// channels.
    pub fn owes(&self, numbers: std::ops::Range<i64>, notices: &[(&str, &str)]) {
        let owed = notices.iter().map(|(recipient, channel)| {
            format!(
                "INSERT INTO outbox (purchase_id, kind, recipient, channel, written_at, due_at)
                 SELECT id, 'ISSUED', '{recipient}', '{channel}', now(), now()
                 FROM generate_series({}, {}) AS id;",
                numbers.start,
                numbers.end - 1
            )
        });
        // Without the triggers that would post the money of a purchase: these tests do not need it.
        let past = std::iter::once("SET session_replication_role = replica;".to_owned());
        let statements: Vec<String> = past.chain(numbers.clone().map(purchase)).chain(owed).collect();
        self.sql(&statements.join("\n"));
    }

    /// A notifier of a worker, with these gateways.
    pub fn notifier(&self, sms: Option<&Inbox>, email: Option<&Inbox>, settings: NotifySettings) -> Notifier {
        let gateway = |inbox: &Inbox| -> Arc<dyn Gateway> { Arc::new(inbox.clone()) };
        let gateways = Gateways { sms: sms.map(gateway), email: email.map(gateway) };
        self.notifier_through(gateways, settings)
    }

    pub fn notifier_through(&self, gateways: Gateways, settings: NotifySettings) -> Notifier {
        settings.checked().unwrap();
        Notifier::new(self.store.clone(), Messages::new(), gateways, settings)
    }

    /// Ends every lease and every pause.
    pub fn time_passes(&self) {
        self.sql("UPDATE outbox SET due_at = now() WHERE sent_at IS NULL");
    }

    pub fn sql(&self, sql: &str) -> String {
        self.database.run_sql(sql).unwrap()
    }
}

fn purchase(id: i64) -> String {
    let token = sealing_keys().seal(TOKEN.as_bytes(), Aad { row_id: id, column: "purchases.sealed_token" });
    let token = hex::encode(token.unwrap().bytes);
    format!(
        "INSERT INTO purchases (id, reference, organisation_id, client_id, user_id, account_id, source_channel,
            language, product, provider_code, subscriber_identifier, beneficiary_phone_number, currency, entry,
            charge, net, total, commission, requester_sms, beneficiary_sms, requester_email,
            beneficiary_email, created_at, state, handling, fence, attempt, requests, window_closes_at,
            provider_reference, ended_at, token_key_id, sealed_token, provider_transaction)
        SELECT {id}, 'TOP/2026/11/{id}', o.id, 1, u.id, a.id, 'POS', 'en', 'ELECTRICITY', 'BPC', '0{id}',
            '2677123{id:04}', 'BWP', 1000, 0, 1000, 1000, 0, true, true, true, true, now(), 'SUCCESSFUL',
            'MANAGED', 1, 1, 0, now(), '20261120170000-000001', now(), 1, '\\x{token}', 'V{id}'
        FROM organisations o, users u, accounts a WHERE a.organisation_id IS NOT NULL;"
    )
}
