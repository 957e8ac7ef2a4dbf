//! A thousand organisations, each with a client, a logged in user and a funded wallet.

use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, TimeDelta};
use ledger::AccountId;
use local_postgres::{LocalDatabase, LocalPostgres};
use purchase::{AccessTokenId, Authority, ClientId, Event, OrganisationId, PurchaseId, UserId};
use store::Reservation;
use test_kit::{
    database::prepare,
    purchases::{self, pula},
};
use vend::{CallId, RawReply, Vend};

use crate::Failure;

/// The number of organisations.
pub const ORGANISATIONS: u32 = 1_000;
/// The total of each purchase.
const TOTAL: i64 = 10_150;
/// About the size of an XMLVend reply.
const REPLY_BYTES: usize = 2_500;

/// Disables triggers, because one of them requires that wallets begin empty.
const SEED: &str = "
    SET session_replication_role = replica;
    INSERT INTO providers (code, name) VALUES ('BPC', 'Botswana Power');
    INSERT INTO products (product) VALUES ('ELECTRICITY');
    INSERT INTO organisations (code, name, environment) SELECT 'S' || n, 'Shop', 'PRODUCTION' FROM generate_series(1, 1000) n;
    INSERT INTO oauth_clients (organisation_id, client_id, name)
        SELECT id, 'vg_live_' || lpad(id::text, 16, '0'), 'tills' FROM organisations ORDER BY id;
    INSERT INTO client_secrets (oauth_client_id, secret_hash, created_at)
        SELECT id, sha256(id::text::bytea), now() FROM oauth_clients ORDER BY id;
    INSERT INTO users (organisation_id, username, password_hash, full_name, role)
        SELECT id, 'till', '$argon2id$', 'Till', 'INTEGRATOR' FROM organisations ORDER BY id;
    INSERT INTO token_families (organisation_id, oauth_client_id, user_id, client_secret_id, created_at, expires_at)
        SELECT id, id, id, id, now(), now() + interval '1 day' FROM organisations ORDER BY id;
    INSERT INTO access_tokens (family_id, generation, token_hash, created_at, expires_at)
        SELECT id, 1, sha256(id::text::bytea), now(), now() + interval '1 day' FROM token_families ORDER BY id;
    INSERT INTO accounts (organisation_id, name, currency, category, posted, held)
        SELECT id, 'Till', 'BWP', 'CURRENT', 1000000000000, 0 FROM organisations ORDER BY id;
    INSERT INTO accounts (organisation_id, name, currency, category, posted, held)
        SELECT id, 'Commission', 'BWP', 'COMMISSION', 0, 0 FROM organisations ORDER BY id;
    INSERT INTO accounts (house, name, currency)
        SELECT h, h, 'BWP' FROM unnest(ARRAY['PROVIDER_PAYABLE', 'FEE_INCOME', 'COMMISSION_EXPENSE', 'FUNDING', 'SUSPENSE']) h;
    INSERT INTO offers (organisation_id, product, provider_code, currency, fee_fixed, commission_rate)
        SELECT id, 'ELECTRICITY', 'BPC', 'BWP', 150, 0.01 FROM organisations;";

/// The database of one measurement and the purchases in it.
pub struct Market {
    pub database: LocalDatabase,
    next: AtomicI64,
}

impl Market {
    /// Opens a fresh database with the same content as every other.
    pub fn open(postgres: &LocalPostgres) -> Result<Self, Failure> {
        let database = postgres.database_from_template("bench", prepare)?;
        database.run_sql(SEED)?;
        database.run_sql("CHECKPOINT")?;
        Ok(Self { database, next: AtomicI64::new(1) })
    }

    /// The next order of this organisation, for a meter that no other order uses.
    pub fn order(&self, organisation: u32) -> Result<Reservation, Failure> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let number = i64::from(organisation);
        let authority = Authority {
            organisation: OrganisationId(number),
            client: ClientId(number),
            user: UserId(number),
            access_token: AccessTokenId(number),
        };
        let (wallet, meter) = (AccountId(number), format!("{id:011}"));
        let mut order =
            purchases::reservation(PurchaseId(id), authority, wallet, call(id)?, &meter, pula(10_000));
        order.request.comment = None;
        order.request.external_reference = Some(format!("pos-{id}"));
        Ok(order)
    }

    /// Fails unless the wallets paid for exactly these purchases and hold nothing.
    pub fn check(&self, pairs: usize) -> Result<(), Failure> {
        let spent =
            "SELECT sum(1000000000000 - posted) || '|' || sum(held) FROM accounts WHERE category = 'CURRENT'";
        let found = self.database.run_sql(spent)?;
        let expected = format!("{}|0", i64::try_from(pairs)?.saturating_mul(TOTAL));
        if found == expected {
            Ok(())
        } else {
            Err(format!("the wallets lost and hold {found}, but should lose and hold {expected}").into())
        }
    }
}

/// The event of a vend that the provider has just answered.
pub fn vended(id: PurchaseId) -> Event {
    let vend = purchases::vend(&format!("T{}", id.0));
    Event::Vended { vend: Box::new(Vend { raw_reply: RawReply(vec![b'x'; REPLY_BYTES]), ..vend }) }
}

/// A unique call id for every number: the low six digits within the second that the higher digits make.
fn call(id: i64) -> Result<CallId, Failure> {
    let per_second = i64::from(CallId::NUMBER_MAX);
    let second = TimeDelta::seconds(id.div_euclid(per_second));
    let number = u32::try_from(id.rem_euclid(per_second))?.saturating_add(1);
    Ok(CallId::new(number, DateTime::UNIX_EPOCH + second)?)
}
