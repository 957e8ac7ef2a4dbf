//! The session of a command: the database connection with the operator's login, and who that is.

use std::sync::Arc;

use back_office::AccountRecord;
use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;
use clock::{Clock as _, SystemClock};
use database::{Database, DatabaseSettings, Purpose};
use directory::{Operator, find_operator};
use identity::{AuditContext, Entropy, Onboarding, OrganisationRecord, SystemEntropy};
use ledger::AccountId;
use money::Money;
use purchase::{OrganisationId, Timing};
use store::{SealingKey, SealingKeys, SealingSettings, Store};
use tokio::runtime::Handle;

use crate::{
    error::VendctlError,
    moment::{Day, Moment},
    parse::{self, Amount},
    reason::Why,
    report::Report,
    settings::OperatorSettings,
};

/// What every command needs.
pub struct Session {
    pub store: Store,
    pub onboarding: Onboarding,
    /// Whether the settings have the servers' sealing key, so that the servers can open a token that is entered here.
    pub can_seal: bool,
    /// Who is connected, as the database says.
    pub operator: Operator,
    /// Whether nothing that is done is kept.
    is_rehearsal: bool,
    /// Another person for whom the operator acts. It is only a note.
    on_behalf_of: Option<String>,
    zone: Tz,
    amount_max: Amount,
    /// How often the message of one purchase may be sent again within a day.
    pub messages_per_day: u8,
    /// How many tokens this operator may be shown within a day.
    pub tokens_per_day: u8,
    console_url: String,
}

impl Session {
    /// Connects, and refuses a role that could rewrite the audit log.
    pub async fn open(
        settings: &OperatorSettings,
        sealing: Option<&SealingSettings>,
        on_behalf_of: Option<String>,
        engine: Handle,
    ) -> Result<Self, VendctlError> {
        let on_behalf_of = on_behalf_of.or_else(|| settings.actor.clone());
        let on_behalf_of =
            on_behalf_of.map(|name| parse::actor(&name)).transpose().map_err(VendctlError::Actor)?;
        let mut database = DatabaseSettings::for_database(settings.database_url.clone());
        "vendctl".clone_into(&mut database.application_name);
        Ok(Self { on_behalf_of, ..Self::of(database, settings, sealing, engine).await? })
    }

    /// The session of the login with which `small` connects.
    pub async fn of(
        mut small: DatabaseSettings,
        settings: &OperatorSettings,
        sealing: Option<&SealingSettings>,
        engine: Handle,
    ) -> Result<Self, VendctlError> {
        (small.pool_size, small.money_pool_size, small.lanes) = (2, 1, Some(1));
        let keys = sealing.map_or_else(throwaway_keys, |sealing| Ok(sealing.keys()?))?;
        let store = Store::connect(small, keys, Timing::default(), Purpose::General, engine).await?;
        store.database().refuse_powerful_role().await?;
        let operator = find_operator(store.database()).await?;
        if operator.roles.is_empty() {
            return Err(VendctlError::NoOperator(operator.login));
        }
        let onboarding = onboarding(&store);
        let zone = settings.zone()?;
        let amount_max = settings.amount_max()?;
        Ok(Self {
            store,
            onboarding,
            can_seal: sealing.is_some(),
            operator,
            is_rehearsal: false,
            on_behalf_of: None,
            zone,
            amount_max,
            messages_per_day: settings.messages_per_day(),
            tokens_per_day: settings.tokens_per_day(),
            console_url: settings.console_url().to_owned(),
        })
    }

    /// The same session of the same person, on a connection of which nothing is ever kept: what is done in it is checked as always, and
    /// only the session itself sees it.
    pub async fn rehearsal(&self) -> Result<Self, VendctlError> {
        let (database, keys) = (self.database(), SealingKeys::clone(self.store.sealing()));
        let (settings, engine) = (database.settings().clone(), database.engine().clone());
        let store = Store::connect(settings, keys, Timing::default(), Purpose::Rehearsal, engine).await?;
        Ok(Self {
            onboarding: onboarding(&store),
            store,
            operator: self.operator.clone(),
            is_rehearsal: true,
            on_behalf_of: self.on_behalf_of.clone(),
            amount_max: self.amount_max,
            console_url: self.console_url.clone(),
            ..*self
        })
    }

    /// A secret that was made, and is shown once. In a rehearsal it is not valid, and not shown.
    pub fn shown_once(&self, secret: &str) -> String {
        if self.is_rehearsal { "none in a rehearsal" } else { secret }.to_owned()
    }

    /// The report with the sentence that says what to do with the secret. In a rehearsal there is none.
    pub fn handing_over(&self, report: Report, sentence: &str) -> Report {
        if self.is_rehearsal { report } else { report.noting(sentence) }
    }

    /// The database, for commands that need no lanes.
    pub fn database(&self) -> &Database {
        self.store.database()
    }

    /// Where the browsers of operators reach the console.
    pub fn console_url(&self) -> &str {
        &self.console_url
    }

    /// The zone of moments without an offset.
    pub const fn zone(&self) -> Tz {
        self.zone
    }

    /// A moment that the operator has written.
    pub fn moment(&self, moment: Moment) -> Result<DateTime<Utc>, VendctlError> {
        moment.in_zone(&self.zone, SystemClock.now()).ok_or(VendctlError::NoSuchTime(self.zone))
    }

    /// The same for a moment that may be left out.
    pub fn optional_moment(&self, moment: Option<Moment>) -> Result<Option<DateTime<Utc>>, VendctlError> {
        moment.map(|moment| self.moment(moment)).transpose()
    }

    /// The date of a day that the operator has written.
    pub fn date(&self, day: Day) -> NaiveDate {
        day.date(SystemClock.now().with_timezone(&self.zone).date_naive())
    }

    /// The begin and the end of a day that the operator has written.
    pub fn bounds(&self, day: Day) -> Result<(DateTime<Utc>, DateTime<Utc>), VendctlError> {
        day.bounds(self.zone, SystemClock.now()).ok_or(VendctlError::NoSuchTime(self.zone))
    }

    /// Refuses an amount of either sign that is above the ceiling of one act.
    pub fn check_ceiling(&self, amount: Money) -> Result<(), VendctlError> {
        let ceiling = self.amount_max.of(amount.currency());
        if amount.minor().unsigned_abs() > ceiling.minor().unsigned_abs() {
            return Err(VendctlError::AboveCeiling { amount, ceiling });
        }
        Ok(())
    }

    /// The note and the reason, for the audit log. The database writes the login.
    pub fn act(&self, why: &Why) -> AuditContext {
        let actor = self.on_behalf_of.clone().unwrap_or_else(|| self.operator.login.clone());
        AuditContext { actor, reason: why.reason.clone() }
    }

    pub async fn organisation(&self, code: &str) -> Result<OrganisationRecord, VendctlError> {
        Ok(self.onboarding.organisation(code).await?)
    }

    pub async fn organisation_id(&self, code: &str) -> Result<OrganisationId, VendctlError> {
        Ok(OrganisationId(self.organisation(code).await?.id))
    }

    /// A wallet by its number, with its owner: a number alone is easily mistyped.
    pub async fn named_wallet(&self, number: i64) -> Result<String, VendctlError> {
        Ok(format!("{number} of {}", self.owner_of_wallet(number).await?))
    }

    /// The code of a wallet's organisation, and the name of the wallet: `KGALE (Wallet)`.
    pub async fn owner_of_wallet(&self, number: i64) -> Result<String, VendctlError> {
        let wallet = self.account(number).await?;
        let code = self.owner_of(&wallet).await?.map(|organisation| organisation.code).unwrap_or_default();
        Ok(format!("{code} ({})", wallet.name))
    }

    /// A wallet's organisation.
    pub async fn owner_of(&self, wallet: &AccountRecord) -> Result<Option<OrganisationRecord>, VendctlError> {
        let organisations = self.onboarding.organisations().await?;
        Ok(organisations.into_iter().find(|one| one.id == wallet.organisation.0))
    }

    pub async fn account(&self, number: i64) -> Result<AccountRecord, VendctlError> {
        let found = back_office::find_account(self.store.database(), AccountId(number)).await?;
        found.ok_or(VendctlError::NoAccount(number))
    }
}

fn onboarding(store: &Store) -> Onboarding {
    Onboarding::new(store.database().clone(), Arc::new(SystemClock), Arc::new(SystemEntropy))
}

/// A random key for commands that neither seal nor open anything. It is lost when the command ends.
fn throwaway_keys() -> Result<SealingKeys, VendctlError> {
    let mut key = [0; 32];
    SystemEntropy.fill(&mut key)?;
    Ok(SealingKeys::try_new(SealingKey::new(1, &key), Vec::new())?)
}
