//! The operator's functions in the sandbox: it creates organisations with loaded wallets.

use std::sync::Arc;

use back_office::NewAccount;
use catalogue::AllowError;
use clock::SystemClock;
use database::DatabaseError;
use identity::{
    AuditContext, Entropy, EntropyError, Environment, Onboarding, OnboardingError, Role, SystemEntropy,
    UserDetails,
};
use ledger::{AccountId, Category};
use money::{Currency, Money, MoneyError};
use purchase::{Handling, OrganisationId};
use store::Store;
use vend::SubscriberIdentifier;

use crate::Credentials;

/// Creates organisations with the functions of the operator's tools.
#[derive(Clone, Debug)]
pub struct Office {
    pub(crate) store: Store,
    onboarding: Onboarding,
    /// The environment of every organisation here.
    environment: Environment,
    /// The subscribers on the allow-list of every organisation here.
    simulator: Vec<SubscriberIdentifier>,
}

/// The plan of an organisation with one user, `till`.
#[derive(Clone, Debug)]
pub struct MerchantPlan {
    /// The `org_code` of its user.
    pub code: String,
    /// Its name for people.
    pub name: String,
    /// The role of its user.
    pub role: Role,
    /// Its wallets, in list order.
    pub wallets: Vec<WalletPlan>,
}

/// The plan of a wallet.
#[derive(Clone, Debug)]
pub struct WalletPlan {
    /// Its label.
    pub name: String,
    /// The handling of its purchases: managed by the service, or by the integrator.
    pub handling: Handling,
    /// The opening balance, in hundredths of a pula.
    pub minor: i64,
}

/// A created organisation.
#[derive(Clone, Debug)]
pub struct Merchant {
    /// Its id.
    pub organisation: OrganisationId,
    /// The login of its user.
    pub credentials: Credentials,
    /// Its wallets, in the order of the plan.
    pub wallets: Vec<AccountId>,
}

/// Why an organisation could not be created.
#[derive(Debug, thiserror::Error)]
pub enum OfficeError {
    /// The organisation, its client or its user could not be created.
    #[error("the organisation could not be created")]
    Onboarding(#[from] OnboardingError),
    /// A wallet or the catalogue could not be written.
    #[error("the organisation could not be set up")]
    Database(#[from] DatabaseError),
    /// Its allow-list could not be written.
    #[error("the allow-list of the organisation could not be written")]
    Allow(#[from] AllowError),
    /// There is no randomness for its password.
    #[error("no password could be generated")]
    Entropy(#[from] EntropyError),
    /// An amount or a rate of the plan is not valid.
    #[error("the plan contains an invalid amount")]
    Money(#[from] MoneyError),
    /// A format of the plan is not valid.
    #[error("the plan contains an invalid format")]
    Format(#[from] purchase::PatternError),
}

impl MerchantPlan {
    /// A plan with one self-managed wallet, with the opening balance of staging wallets.
    pub fn staging(code: &str, name: &str) -> Self {
        let wallets = vec![WalletPlan::loaded("Wallet", Handling::SelfManaged)];
        Self { code: code.to_owned(), name: name.to_owned(), role: Role::Integrator, wallets }
    }
}

impl WalletPlan {
    /// A wallet with the opening balance of staging wallets.
    pub fn loaded(name: &str, handling: Handling) -> Self {
        Self { name: name.to_owned(), handling, minor: back_office::staging_load().minor() }
    }
}

impl Office {
    pub(crate) fn new(store: Store, environment: Environment, simulator: Vec<SubscriberIdentifier>) -> Self {
        let onboarding =
            Onboarding::new(store.database().clone(), Arc::new(SystemClock), Arc::new(SystemEntropy));
        Self { store, onboarding, environment, simulator }
    }

    /// The store, with the operator's rights.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// Creates an organisation with a client, a user, its wallets, the offers of the catalogue, a default provider of
    /// electricity, and an allow-list with all subscribers.
    ///
    /// # Errors
    /// When the code is taken, or the database does not answer.
    pub async fn open_merchant(&self, plan: MerchantPlan) -> Result<Merchant, OfficeError> {
        let act = act();
        let id = self
            .onboarding
            .create_organisation(&plan.code, &plan.name, self.environment, act.clone())
            .await?;
        let organisation = OrganisationId(id);
        let client = self.onboarding.create_client(&plan.code, "tills", act.clone()).await?;
        let password = random_word(16)?;
        self.onboarding.create_user(&plan.code, till(&plan.name, &password, plan.role), act.clone()).await?;
        let mut wallets = Vec::new();
        for (wallet, rank) in plan.wallets.into_iter().zip(1..) {
            wallets.push(self.open_wallet(organisation, wallet, rank).await?);
        }
        self.offer_everything_to(organisation).await?;
        self.name_default_provider_for(organisation).await?;
        catalogue::allow(self.store.database(), organisation, self.simulator.clone(), act).await?;
        let credentials = Credentials {
            client_id: client.client_id,
            client_secret: client.secret.expose().to_owned(),
            org_code: plan.code,
            identifier: USERNAME.to_owned(),
            secret_pass: password,
        };
        Ok(Merchant { organisation, credentials, wallets })
    }

    async fn open_wallet(
        &self,
        organisation: OrganisationId,
        plan: WalletPlan,
        rank: i32,
    ) -> Result<AccountId, OfficeError> {
        let currency = pula()?;
        let account = NewAccount {
            organisation,
            name: plan.name,
            currency,
            category: Category::Current,
            handling: plan.handling,
            rank,
        };
        let amount = Money::from_minor(plan.minor, currency);
        let opened =
            back_office::open_account_for_staging(self.store.database(), account, amount, act()).await?;
        // Only the first wallet of an organisation is loaded automatically.
        if opened.loaded.is_none() && amount.is_positive() {
            back_office::top_up(self.store.database(), opened.id, amount, act()).await?;
        }
        Ok(opened.id)
    }
}

/// The audit context of every change here.
pub(crate) fn act() -> AuditContext {
    AuditContext { actor: "sandbox".to_owned(), reason: "the sandbox is being set up".to_owned() }
}

/// The currency of all amounts here.
pub(crate) fn pula() -> Result<Currency, MoneyError> {
    Currency::parse("BWP")
}

/// This many random bytes, in hexadecimal.
pub(crate) fn random_word(bytes: usize) -> Result<String, EntropyError> {
    let mut word = vec![0; bytes];
    SystemEntropy.fill(&mut word)?;
    Ok(hex::encode(word))
}

const USERNAME: &str = "till";

fn till(merchant: &str, password: &str, role: Role) -> UserDetails {
    UserDetails {
        username: USERNAME.to_owned(),
        password: password.into(),
        full_name: format!("Till of {merchant}"),
        phone_number: Some("26771000001".to_owned()),
        email: Some("till@shop.example".to_owned()),
        role,
    }
}
