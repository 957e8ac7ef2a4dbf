//! What the database contains, read at one moment.

use std::collections::BTreeMap;

use local_postgres::LocalDatabase;
use serde::Deserialize;

/// One snapshot, read by one statement. Instants are microseconds since the epoch, amounts are hundredths. What was not read is
/// empty.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Books {
    pub purchases: Vec<Purchase>,
    pub attempts: Vec<Attempt>,
    /// In the order in which they were written.
    pub events: Vec<Event>,
    /// In the order in which they were written.
    pub postings: Vec<Posting>,
    pub wallets: Vec<Wallet>,
    pub incidents: Vec<Incident>,
    /// Messages that are owed, sent or given up. Empty if the database has no outbox.
    pub outbox: Vec<Message>,
    /// What the feed tells of each purchase that was made since there is a feed. Empty if the database has none.
    pub told: Vec<Told>,
    /// What system accounts have by the last trial balance and what has moved since. Empty if the database has none.
    pub carried: Vec<Carried>,
}

/// A row of the purchases.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Purchase {
    pub id: i64,
    pub reference: String,
    pub organisation: i64,
    pub account: i64,
    pub commission_account: Option<i64>,
    pub product: String,
    pub provider: String,
    pub subscriber: String,
    /// The phone number that receives the messages.
    pub beneficiary: String,
    pub currency: String,
    pub entry: i64,
    pub charge: i64,
    pub net: i64,
    pub total: i64,
    pub commission: i64,
    pub external_reference: Option<String>,
    pub idempotency_key: Option<String>,
    pub created_at: i64,
    pub state: String,
    pub handling: String,
    pub fence: i64,
    pub is_leased: bool,
    pub attempt: i64,
    pub requests: i64,
    pub window_closes_at: i64,
    pub provider_reference: String,
    pub ended_at: Option<i64>,
    pub has_token: bool,
    /// SMS to the requester, SMS to the beneficiary, e-mail to the requester.
    pub wishes: [bool; 3],
}

/// One vend under one provider reference.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Attempt {
    pub purchase: i64,
    pub number: i64,
    pub provider_reference: String,
    pub started_at: i64,
}

/// A line of a purchase's history.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Event {
    pub id: i64,
    pub purchase: i64,
    pub at: i64,
    pub fact: String,
    pub state: String,
    pub fence: i64,
    pub attempt: i64,
}

/// A posting with its journal entry.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Posting {
    pub entry: i64,
    pub kind: String,
    pub purchase: Option<i64>,
    pub debit: i64,
    pub credit: i64,
    /// The currencies of the posting, the debited account and the credited account.
    pub currencies: [String; 3],
    pub amount: i64,
    /// The names of the debited and the credited account, where they are system accounts.
    pub system_accounts: [Option<String>; 2],
}

/// An integrator's account.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Wallet {
    pub id: i64,
    pub organisation: i64,
    pub posted: i64,
    pub held: i64,
}

/// A vend that came to light after its purchase had ended.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Incident {
    pub purchase: i64,
    pub kind: String,
}

/// How many events of the feed a purchase has.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Told {
    pub purchase: i64,
    pub accepted: i64,
    pub succeeded: i64,
    pub failed: i64,
}

/// A row of the outbox.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Message {
    pub purchase: i64,
    pub kind: String,
    pub recipient: String,
    pub channel: String,
    /// How often a process took it to send it.
    pub attempts: i64,
    pub is_sent: bool,
    pub is_given_up: bool,
}

impl Message {
    /// Whether it is still to be sent.
    pub const fn is_owed(&self) -> bool {
        !self.is_sent && !self.is_given_up
    }
}

/// The balance of a system account.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Carried {
    pub account: i64,
    pub balance: i64,
}

/// What a wallet held at one moment, and what its open purchases cost at the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoldSample {
    pub account: i64,
    pub held: i64,
    pub open: i64,
}

impl Purchase {
    /// Whether it has not ended.
    pub fn is_open(&self) -> bool {
        self.ended_at.is_none()
    }
}

impl Books {
    /// Reads what a later snapshot must still contain: purchases, their history, postings and wallets. To read everything takes
    /// twice as long.
    pub fn read_lasting(database: &LocalDatabase) -> Self {
        Self::read_parts(database, &LASTING)
    }

    /// Reads the whole snapshot.
    pub fn read(database: &LocalDatabase) -> Self {
        let later = [
            ("outbox", "outbox", OUTBOX),
            ("told", "feed_events", TOLD),
            ("carried", "trial_balances", CARRIED),
        ];
        let later = later.map(|(part, table, rows)| {
            let is_there =
                database.run_sql(&format!("SELECT to_regclass('{table}') IS NOT NULL")).unwrap() == "t";
            (part, if is_there { rows } else { "SELECT 1 WHERE false" })
        });
        let parts: Vec<_> = LASTING.into_iter().chain(OTHERS).chain(later).collect();
        Self::read_parts(database, &parts)
    }

    fn read_parts(database: &LocalDatabase, parts: &[(&str, &str)]) -> Self {
        let members = parts
            .iter()
            .map(|(name, rows)| format!("'{name}', (SELECT coalesce(json_agg(r), '[]') FROM ({rows}) r)"));
        let members: Vec<String> = members.collect();
        let sql = format!("SELECT json_build_object({})", members.join(", "));
        serde_json::from_str(&database.run_sql(&sql).unwrap()).unwrap()
    }

    /// The purchase with this id.
    pub fn purchase(&self, id: i64) -> Option<&Purchase> {
        self.purchases.iter().find(|purchase| purchase.id == id)
    }

    /// The purchase of each provider reference. The key contains the product, because each provider has its own
    /// references and each product has one provider.
    pub fn by_reference(&self) -> BTreeMap<(&str, &str), &Purchase> {
        let purchases: BTreeMap<i64, &Purchase> = self.purchases.iter().map(|p| (p.id, p)).collect();
        let named = self.attempts.iter().filter_map(|attempt| {
            let purchase = *purchases.get(&attempt.purchase)?;
            Some(((purchase.product.as_str(), attempt.provider_reference.as_str()), purchase))
        });
        named.collect()
    }

    /// The history of each purchase.
    pub fn histories(&self) -> BTreeMap<i64, Vec<&Event>> {
        let mut histories: BTreeMap<i64, Vec<&Event>> = BTreeMap::new();
        for event in &self.events {
            histories.entry(event.purchase).or_default().push(event);
        }
        histories
    }

    /// The postings that settle each purchase.
    pub fn settlements(&self) -> BTreeMap<i64, Vec<&Posting>> {
        let mut settlements: BTreeMap<i64, Vec<&Posting>> = BTreeMap::new();
        for posting in self.postings.iter().filter(|posting| posting.kind == "SETTLE") {
            if let Some(purchase) = posting.purchase {
                settlements.entry(purchase).or_default().push(posting);
            }
        }
        settlements
    }
}

impl HoldSample {
    /// Parses the result of [`SAMPLE_OF_HOLDS`].
    pub fn parse(rows: &str) -> Vec<Self> {
        let samples = rows.lines().filter_map(|row| {
            let mut fields = row.split('|').map(str::parse::<i64>);
            let mut next = || fields.next()?.ok();
            Some(Self { account: next()?, held: next()?, open: next()? })
        });
        samples.collect()
    }
}

/// What every wallet holds and what its open purchases cost, read by one statement at one moment.
pub const SAMPLE_OF_HOLDS: &str = "SELECT a.id, a.held, coalesce(sum(p.total), 0)
    FROM accounts a LEFT JOIN purchases p ON p.account_id = a.id AND p.ended_at IS NULL
    WHERE a.house IS NULL GROUP BY a.id, a.held";

const LASTING: [(&str, &str); 4] = [
    (
        "purchases",
        "SELECT id, reference, organisation_id AS organisation, account_id AS account,
            commission_account_id AS commission_account, product, provider_code AS provider,
            subscriber_identifier AS subscriber, beneficiary_phone_number AS beneficiary, currency, entry, charge, net, total, commission, external_reference,
            idempotency_key, (extract(epoch FROM created_at) * 1000000)::bigint AS created_at, state, handling, fence,
            lease_until IS NOT NULL AS is_leased, attempt, requests,
            (extract(epoch FROM window_closes_at) * 1000000)::bigint AS window_closes_at, provider_reference,
            (extract(epoch FROM ended_at) * 1000000)::bigint AS ended_at, sealed_token IS NOT NULL AS has_token,
            ARRAY[requester_sms, beneficiary_sms, requester_email] AS wishes
         FROM purchases ORDER BY reserved_no",
    ),
    (
        "events",
        "SELECT id, purchase_id AS purchase, (extract(epoch FROM at) * 1000000)::bigint AS at, fact, state, fence,
            attempt
         FROM purchase_history ORDER BY id",
    ),
    (
        "postings",
        "SELECT o.entry_id AS entry, e.kind, e.purchase_id AS purchase, o.debit_account_id AS debit,
            o.credit_account_id AS credit, ARRAY[o.currency, d.currency, c.currency] AS currencies, o.amount,
            ARRAY[d.house, c.house] AS system_accounts
         FROM postings o JOIN journal_entries e ON e.id = o.entry_id
         JOIN accounts d ON d.id = o.debit_account_id JOIN accounts c ON c.id = o.credit_account_id
         ORDER BY e.posted_at, o.entry_id, o.debit_account_id, o.credit_account_id",
    ),
    (
        "wallets",
        "SELECT id, organisation_id AS organisation, posted, held FROM accounts WHERE house IS NULL ORDER BY id",
    ),
];

const OTHERS: [(&str, &str); 2] = [
    (
        "attempts",
        "SELECT purchase_id AS purchase, number, provider_reference,
            (extract(epoch FROM started_at) * 1000000)::bigint AS started_at
         FROM attempts ORDER BY purchase_id, number",
    ),
    ("incidents", "SELECT purchase_id AS purchase, kind FROM incidents ORDER BY id"),
];

const OUTBOX: &str = "SELECT purchase_id AS purchase, kind, recipient, channel, attempts,
    sent_at IS NOT NULL AS is_sent, given_up_at IS NOT NULL AS is_given_up FROM outbox";

const TOLD: &str = "SELECT p.id AS purchase, count(*) FILTER (WHERE e.kind = 'purchase.accepted') AS accepted,
        count(*) FILTER (WHERE e.kind = 'purchase.succeeded') AS succeeded, count(*) FILTER (WHERE e.kind = 'purchase.failed') AS failed
    FROM purchases p CROSS JOIN feed_numbering n LEFT JOIN feed_events e ON e.purchase_id = p.id
    WHERE p.created_at > n.began_at GROUP BY p.id";

const CARRIED: &str = "SELECT s.account_id AS account, sum(s.amount)::bigint AS balance
    FROM (SELECT max(at) AS at, max(entry_id) AS entry_id FROM trial_balances) last
    CROSS JOIN LATERAL (
        SELECT l.account_id, l.balance AS amount FROM trial_balance_lines l WHERE l.at = last.at
        UNION ALL SELECT m.account_id, m.amount FROM moves_of_wallets(last.at, NULL) m
        UNION ALL SELECT m.account_id, m.amount FROM moves_beside_wallets(coalesce(last.entry_id, 0), 9223372036854775807) m
    ) s GROUP BY s.account_id";
