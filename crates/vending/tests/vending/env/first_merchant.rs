//! The first merchant of every environment. It is entered and logged in once for all tests, in the template of their
//! databases: to hash its password and to check it takes 20 ms of a processor each.

use std::sync::OnceLock;

use clock::ManualClock;
use database::DatabaseError;
use identity::{Environment, Identity, Onboarding, Role, UserDetails};
use local_postgres::{LocalDatabase, LocalPostgres};
use purchase::Authority;
use test_kit::{
    database::prepare,
    organisation::{self, credentials, log_in, user},
};
use tokio::runtime::{Builder, Handle};

use super::{Plan, connect, identity_over, onboarding_over, started_clock};

/// The code of its organisation.
pub(super) const CODE: &str = "SHOP0";

/// A merchant's user that is logged in.
#[derive(Clone, Copy)]
pub(super) struct SignedIn {
    pub(super) authority: Authority,
    /// The id of the client secret of the login.
    pub(super) secret_id: i64,
}

static FIRST: OnceLock<SignedIn> = OnceLock::new();

/// A migrated database that has the first merchant.
pub(super) fn database() -> LocalDatabase {
    let prepared = LocalPostgres::shared().database_from_template("with_a_merchant", with_a_merchant);
    prepared.expect("a test needs its database")
}

/// The first merchant of every database that [`database`] returns.
pub(super) fn first() -> SignedIn {
    *FIRST.get().expect("there is a database, so its template has the merchant")
}

fn with_a_merchant(url: &str) -> Result<(), DatabaseError> {
    prepare(url)?;
    let runtime = Builder::new_current_thread().enable_all().build().map_err(DatabaseError::unavailable)?;
    let merchant = runtime.block_on(async {
        let store = connect(url.to_owned(), &Plan::default(), Handle::current()).await;
        let (database, clock): (_, ManualClock) = (store.database(), started_clock());
        sign_in(&onboarding_over(database, &clock), &identity_over(database.clone(), &clock), CODE).await
    });
    FIRST.get_or_init(|| merchant);
    Ok(())
}

/// Enters an organisation with a user, and logs the user in.
pub(super) async fn sign_in(onboarding: &Onboarding, identity: &Identity, code: &str) -> SignedIn {
    let silent = UserDetails { phone_number: None, ..user("till", Role::Integrator) };
    let client = organisation::enter(onboarding, code, "Shop", Environment::Production, silent).await;
    let (authority, _tokens) = log_in(identity, credentials(code, &client, "till")).await;
    SignedIn { authority, secret_id: client.secret_id }
}
