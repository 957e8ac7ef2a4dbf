//! The operator's desk of the sandbox: it lets organisations in, and hands their wallets over loaded.

use std::sync::Arc;

use clock::SystemClock;
use identity::{
    Act, Entropy, EntropyError, Environment, Onboarding, OnboardingError, Role, SystemEntropy, UserDetails,
};
use ledger::{AccountId, Category};
use money::{Currency, Money, MoneyError};
use purchase::{Handling, OrganisationId};
use store::{AllowError, NewAccount, Store, StoreError};
use vend::SubscriberIdentifier;

use crate::Credentials;

/// Lets organisations in, by the functions that the operator's tools use.
#[derive(Clone, Debug)]
pub struct Office {
    pub(crate) store: Store,
    onboarding: Onboarding,
    /// Everybody who can be sold to: what every organisation here is locked to.
    street: Vec<SubscriberIdentifier>,
}

/// An organisation to be let in, with one user, `till`.
#[derive(Clone, Debug)]
pub struct ShopPlan {
    /// What its user gives as `org_code`.
    pub code: String,
    /// Its name for people.
    pub name: String,
    /// What its user may do.
    pub role: Role,
    /// Its wallets, in the order of a list.
    pub wallets: Vec<WalletPlan>,
}

/// A wallet to be opened.
#[derive(Clone, Debug)]
pub struct WalletPlan {
    /// Its label.
    pub name: String,
    /// Who settles doubt about purchases out of it.
    pub handling: Handling,
    /// What is paid in, in hundredths of a pula.
    pub minor: i64,
}

/// An organisation that was let in.
#[derive(Clone, Debug)]
pub struct Shop {
    /// Its number.
    pub organisation: OrganisationId,
    /// How its user logs in.
    pub credentials: Credentials,
    /// Its wallets, in the order of the plan.
    pub wallets: Vec<AccountId>,
}

/// Why an organisation could not be let in.
#[derive(Debug, thiserror::Error)]
pub enum OfficeError {
    /// It, its client or its user could not be made.
    #[error("the organisation could not be let in")]
    Onboarding(#[from] OnboardingError),
    /// A wallet or the catalogue could not be written.
    #[error("the organisation could not be fitted out")]
    Store(#[from] StoreError),
    /// Its allow-list could not be written.
    #[error("the organisation could not be given its subscribers")]
    Allow(#[from] AllowError),
    /// There is no randomness for its password.
    #[error("no password could be made")]
    Entropy(#[from] EntropyError),
    /// An amount or a rate of the plan is none.
    #[error("the plan names an impossible amount")]
    Money(#[from] MoneyError),
    /// A format of the plan is none.
    #[error("the plan names an impossible format")]
    Format(#[from] purchase::PatternError),
}

impl ShopPlan {
    /// With one self-managed wallet, loaded as every staging wallet is.
    pub fn staging(code: &str, name: &str) -> Self {
        let wallets = vec![WalletPlan::loaded("Wallet", Handling::SelfManaged)];
        Self { code: code.to_owned(), name: name.to_owned(), role: Role::Integrator, wallets }
    }
}

impl WalletPlan {
    /// Loaded as every staging wallet is.
    pub fn loaded(name: &str, handling: Handling) -> Self {
        Self { name: name.to_owned(), handling, minor: store::staging_load().minor() }
    }
}

impl Office {
    pub(crate) fn new(store: Store, street: Vec<SubscriberIdentifier>) -> Self {
        let onboarding = Onboarding::new(store.clone(), Arc::new(SystemClock), Arc::new(SystemEntropy));
        Self { store, onboarding, street }
    }

    /// Everything that the operator can read and write.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// Lets an organisation in, with a client, a user, its wallets, the catalogue's offers, a default provider of
    /// electricity, and everybody who can be sold to on its allow-list.
    ///
    /// # Errors
    /// When its code is taken, or the database does not answer.
    pub async fn open_shop(&self, plan: ShopPlan) -> Result<Shop, OfficeError> {
        let act = act();
        let id = self
            .onboarding
            .create_organisation(&plan.code, &plan.name, Environment::Staging, act.clone())
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
        self.store.allow(organisation, self.street.clone(), act).await?;
        let credentials = Credentials {
            client_id: client.client_id,
            client_secret: client.secret.expose().to_owned(),
            org_code: plan.code,
            identifier: USERNAME.to_owned(),
            secret_pass: password,
        };
        Ok(Shop { organisation, credentials, wallets })
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
        let opened = self.store.open_account_for_staging(account, amount, act()).await?;
        // Only an organisation's first wallet is loaded of itself.
        if opened.loaded.is_none() && amount.is_positive() {
            self.store.top_up(opened.id, amount, act()).await?;
        }
        Ok(opened.id)
    }
}

/// In whose name everything here is done, and why.
pub(crate) fn act() -> Act {
    Act { actor: "sandbox".to_owned(), reason: "the sandbox is being set up".to_owned() }
}

/// The currency of everything here.
pub(crate) fn pula() -> Result<Currency, MoneyError> {
    Currency::parse("BWP")
}

/// So many random bytes, as text.
pub(crate) fn random_word(bytes: usize) -> Result<String, EntropyError> {
    let mut word = vec![0; bytes];
    SystemEntropy.fill(&mut word)?;
    Ok(hex::encode(word))
}

const USERNAME: &str = "till";

fn till(shop: &str, password: &str, role: Role) -> UserDetails {
    UserDetails {
        username: USERNAME.to_owned(),
        password: password.into(),
        full_name: format!("Till of {shop}"),
        phone_number: Some("26771000001".to_owned()),
        email: Some("till@shop.example".to_owned()),
        role,
    }
}
