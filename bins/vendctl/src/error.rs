//! Why a command did nothing, in one line that says what to do about it.

use std::{error::Error, io, iter};

use boot::SettingsError;
use identity::{EntropyError, OnboardingError};
use purchase::PatternError;
use store::{AccountRefusal, AllowError, PaymentError, SealError, StoreError};
use vend::Product;

#[derive(Debug, thiserror::Error)]
pub(crate) enum VendctlError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("no threads can be started")]
    Threads(#[source] io::Error),
    #[error("the outcome could not be printed")]
    Unprinted(#[source] io::Error),
    #[error("nobody knows in whose name this is done; say so with --actor")]
    NoActor,
    #[error("--actor, or the actor of the settings, cannot be that: {0}")]
    Actor(String),
    #[error("the password on standard input cannot be read")]
    NoPassword(#[source] io::Error),
    #[error(transparent)]
    Entropy(#[from] EntropyError),
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error(transparent)]
    Onboarding(#[from] OnboardingError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Payment(#[from] PaymentError),
    #[error(transparent)]
    Account(#[from] AccountRefusal),
    #[error(transparent)]
    Allow(#[from] AllowError),
    #[error("--pattern cannot be kept")]
    Pattern(#[from] PatternError),
    #[error("--min is above --max; exchange them")]
    LengthsCrossed,
    #[error("{least} is above {most}; exchange them")]
    LimitsCrossed { least: &'static str, most: &'static str },
    #[error("there is no account {0}; `vendctl account list -o CODE` shows an organisation's")]
    NoAccount(i64),
    #[error(
        "client {client_id} has no secret {secret}; `vendctl client show {client_id}` shows which it has"
    )]
    NoSecret { client_id: String, secret: i64 },
    #[error("there is no product {0}; enter it with `vendctl product set`")]
    NoProduct(Product),
    #[error("there is no provider {0}; enter it with `vendctl provider declare`")]
    NoProvider(String),
    #[error("provider {0} is new; give it a --name")]
    NamelessProvider(String),
    #[error("nothing is to be changed; name at least one of --name, --handling, --retries and --rank")]
    NothingToChange,
}

impl VendctlError {
    /// What went wrong, why, and what to do, on one line.
    pub(crate) fn line(&self) -> String {
        let of_the_store = self.of_the_store();
        if let Some(rule) = of_the_store.and_then(broken_rule) {
            return rule.to_owned();
        }
        // What happened to the store says more than that something could not be recorded.
        let this: &(dyn Error + 'static) = match of_the_store {
            Some(error) => error,
            None => self,
        };
        let mut phrases: Vec<String> = Vec::new();
        for phrase in iter::successors(Some(this), |&error| error.source()).map(ToString::to_string) {
            // What passes its source on unchanged says nothing of its own.
            if phrases.last() != Some(&phrase) {
                phrases.push(phrase);
            }
        }
        let told = phrases.join(": ").replace(['\n', '\r'], " ");
        match self.advice() {
            Some(advice) => format!("{told}; {advice}"),
            None => told,
        }
    }

    fn advice(&self) -> Option<&'static str> {
        if let Self::Onboarding(OnboardingError::Absent { what, .. }) = self {
            return Some(match *what {
                "organisation" => "`vendctl organisation list` shows all",
                "client" => "`vendctl client list -o CODE` shows an organisation's",
                _ => "`vendctl user list -o CODE` shows an organisation's",
            });
        }
        if matches!(self, Self::Onboarding(OnboardingError::PasswordLength)) {
            return Some("give another one to --password-stdin, or have one made by --generate-password");
        }
        if matches!(self, Self::Unprinted(_)) {
            return Some("it was done; a secret that nobody saw is replaced by `vendctl secret rotate`");
        }
        if matches!(self, Self::Payment(PaymentError::Refused(_))) {
            return Some("nothing was posted");
        }
        if matches!(self, Self::Account(AccountRefusal::NotEmpty { .. })) {
            return Some("wait for what is open, and empty it with `vendctl wallet adjust`");
        }
        self.of_the_store().and_then(advice_about)
    }

    fn of_the_store(&self) -> Option<&StoreError> {
        if let Self::Store(error)
        | Self::Onboarding(OnboardingError::Store(error))
        | Self::Payment(PaymentError::Store(error))
        | Self::Allow(AllowError::Store(error)) = self
        {
            return Some(error);
        }
        None
    }
}

/// What to do about a failure of the store.
fn advice_about(error: &StoreError) -> Option<&'static str> {
    if error.may_have_been_kept() {
        return Some(
            "it may have been done or not: look with `vendctl audit list`; a payment may be entered again under its --id",
        );
    }
    let is_forbidden =
        matches!(error, StoreError::Query { source } if source.to_string().contains("permission denied"));
    if is_forbidden || matches!(error, StoreError::Setting { name: "role", .. }) {
        return Some(
            "operator.database_url must name a login that is a member of vendgate_operator and owns nothing",
        );
    }
    if matches!(error, StoreError::Schema { .. }) {
        return Some(
            "use the vendctl of the servers' version, or bring the database up with `api-server migrate`",
        );
    }
    if matches!(error, StoreError::Busy { .. }) {
        return Some("nothing was done; try again");
    }
    matches!(error, StoreError::Unavailable { .. })
        .then_some("is operator.database_url right, and does the database run?")
}

/// Which rule of the schema was broken, and what to do about it, where an operator can break it.
fn broken_rule(error: &StoreError) -> Option<&'static str> {
    let (StoreError::Duplicate { constraint } | StoreError::Rejected { constraint, .. }) = error else {
        return None;
    };
    match constraint.as_str() {
        "organisations_code_key" => Some("the CODE is taken; choose another one"),
        "users_organisation_id_username_key" => {
            Some("the organisation has a user of that name; choose another USERNAME")
        }
        "accounts_one_for_commission" => {
            Some("the organisation has a commission account of that currency; nothing was opened")
        }
        "journal_entries_one_per_reference" => Some("another payment bears that --id; nothing was posted"),
        "offers_provider_code_fkey" => {
            Some("there is no such PROVIDER; enter it with `vendctl provider declare`")
        }
        "offers_product_fkey" | "product_texts_product_fkey" => {
            Some("the PRODUCT is not entered yet; do so with `vendctl product set`")
        }
        "default_provider_needs_its_offer" => Some(
            "a default provider needs its offer; see `vendctl offer set`, or `vendctl default-provider remove` before \
             an offer goes",
        ),
        _ => None,
    }
}
