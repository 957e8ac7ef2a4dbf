//! The errors of commands. Each is one line that says what to do about it.

use std::{error::Error, io, iter};

use back_office::{
    AccountRefusal, ArchiveError, DiscrepancyError, EraseError, IncidentError, PaymentError, ReverseError,
    Rule, UnmatchedVendError,
};
use boot::SettingsError;
use catalogue::AllowError;
use chrono_tz::Tz;
use database::DatabaseError;
use directory::AuditFault;
use identity::{EntropyError, OnboardingError};
use money::{Money, MoneyError};
use purchase::{PatternError, StateName};
use store::{DecisionError, SealError};
use vend::Product;

use crate::{
    archive::ArchiveFault,
    purchases::TokenFault,
    report::one_line,
    settings::{BadCeiling, UnknownTimeZone},
    statement::StatementFileError,
};

#[derive(Debug, thiserror::Error)]
pub(crate) enum VendctlError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("no threads can be started")]
    Threads(#[source] io::Error),
    #[error("the outcome could not be printed")]
    Unprinted(#[source] io::Error),
    #[error(
        "the manual pages could not be written to {directory}; name a directory that exists and that you may write to"
    )]
    NoManPages { directory: String, source: io::Error },
    #[error("the actor is not known; name it with --actor")]
    NoActor,
    #[error("--actor, or the actor in the settings, is not valid: {0}")]
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
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Payment(#[from] PaymentError),
    #[error(transparent)]
    Account(#[from] AccountRefusal),
    #[error(transparent)]
    Allow(#[from] AllowError),
    #[error(transparent)]
    Decision(#[from] DecisionError),
    #[error(transparent)]
    Incident(#[from] IncidentError),
    #[error(transparent)]
    UnmatchedVend(#[from] UnmatchedVendError),
    #[error(transparent)]
    Erase(#[from] EraseError),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error(transparent)]
    ArchiveFile(#[from] ArchiveFault),
    #[error("the archive does not hold purchase {0}")]
    NotInArchive(i64),
    #[error(transparent)]
    StatementFile(#[from] StatementFileError),
    #[error(
        "the vend {reference} of {at} is outside the period and its --tolerance; give the period that the statement covers"
    )]
    OutsidePeriod { reference: String, at: String },
    #[error("a period is a --date, or begins --from a moment and ends --until a later one")]
    NoStatementPeriod,
    #[error("the period ends only at {until}; give an --until that is over")]
    PeriodIsNotOver { until: String },
    #[error("there is no reconciliation {0}; `vendctl reconciliations list` shows those there are")]
    NoReconciliation(i64),
    #[error(transparent)]
    Discrepancy(#[from] DiscrepancyError),
    #[error("the audit log is not intact: {0}")]
    Audit(#[from] AuditFault),
    #[error(
        "there is no purchase {0}; `vendctl purchases list` finds it by its subscriber or the integrator's reference"
    )]
    NoPurchase(String),
    #[error("a receipt's footer has at most {limit} lines; join some of them")]
    TooManyFooterLines { limit: usize },
    #[error("there is no incident {0}; `vendctl incidents list --all` shows every one")]
    NoIncident(i64),
    #[error("the token cannot be read")]
    NoToken(#[source] io::Error),
    #[error("that is no token: {0}")]
    Token(TokenFault),
    #[error("a vend of electricity comes with its token; give it with --token-stdin or --token-file")]
    TokenMissing,
    #[error("a vend of {0} comes with its --units, such as \"45.2 kWh\"")]
    UnitsMissing(Product),
    #[error("electricity is counted in kWh; give --units such as \"45.2 kWh\"")]
    NotKilowattHours,
    #[error("a vend of airtime has neither token nor --units; leave them out")]
    AirtimeHasNone,
    #[error("the provider was asked for {net}, and {given} is given; is it the right purchase?")]
    OtherAmount { given: Money, net: Money },
    #[error("a purchase that was not vended has no transaction, --units, --amount or token; leave them out")]
    NotVendedHasNoDetails,
    #[error(
        "a token is sealed with the servers' key; give vendctl their [sealing] section, in its settings file or as \
         VENDGATE__SEALING__CURRENT__ID and VENDGATE__SEALING__CURRENT__KEY"
    )]
    NoSealingKey,
    #[error("--pattern cannot be used")]
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
    #[error(
        "the sales of provider {0} are not paused; `vendctl provider show {0}` shows what is still to come"
    )]
    NotPaused(String),
    #[error(
        "provider {provider} has no pause {pause} that could be ended; `vendctl provider show {provider}` shows those it has"
    )]
    NoPause { provider: String, pause: i64 },
    #[error("the lines could not be written as CSV")]
    Csv(#[from] csv::Error),
    #[error("nothing was done, because the answer was not yes")]
    NotAgreed,
    #[error("the answer cannot be read; give --yes")]
    NoAnswer(#[source] io::Error),
    #[error(
        "{amount} is above {ceiling}, the greatest amount of one act; nothing was posted. If it is right, raise \
         operator.amount_max or set VENDGATE__OPERATOR__AMOUNT_MAX for this act"
    )]
    AboveCeiling { amount: Money, ceiling: Money },
    #[error(
        "a report has 1 to {days_max} days; give a --to that is not before --date, and the rest in further reports"
    )]
    NoPeriod { days_max: usize },
    #[error("the amounts are too large to be added up")]
    Sum(#[from] MoneyError),
    #[error(transparent)]
    Reverse(#[from] ReverseError),
    #[error(transparent)]
    Ceiling(#[from] BadCeiling),
    #[error(transparent)]
    TimeZone(#[from] UnknownTimeZone),
    #[error("a moment does not occur in {0}, because clocks are set forward over it; give it with an offset")]
    NoSuchTime(Tz),
    #[error("provider {0} is new; give it a --name")]
    NamelessProvider(String),
    #[error(
        "organisation {organisation} has no offer of {product} by {provider}; `vendctl offer list -o {organisation}` \
         shows those it has, `vendctl offer set` enters another"
    )]
    NoOffer { organisation: String, product: Product, provider: String },
    #[error(
        "{provider} is the default PROVIDER of {product} for organisation {organisation}; name another one with \
         `vendctl default-provider set`, or none with `vendctl default-provider remove`, and then remove the offer"
    )]
    IsDefault { organisation: String, product: Product, provider: String },
    #[error(
        "organisation {organisation} has no default provider of {product}; `vendctl default-provider show -o \
         {organisation}` shows those it has"
    )]
    NoDefault { organisation: String, product: Product },
    #[error(
        "{product} has no names of its own in LANGUAGE {language}; `vendctl product list` shows those it has"
    )]
    NoText { product: Product, language: String },
    #[error("nothing to change; name at least one of --name, --handling, --retries and --rank")]
    NothingToChange,
}

impl VendctlError {
    /// `self`, if the database did not find what the command named; otherwise the error of the database.
    pub(crate) fn if_absent(self, error: DatabaseError) -> Self {
        if matches!(error, DatabaseError::Absent { .. }) { self } else { Self::Database(error) }
    }

    /// `self`, if `error` is a violation of `rule`; otherwise the error of the database.
    pub(crate) fn if_broken(self, rule: Rule, error: DatabaseError) -> Self {
        if Rule::broken_by(&error) == Some(rule) { self } else { Self::Database(error) }
    }

    /// What went wrong, why, and what to do, in one line.
    pub(crate) fn line(&self) -> String {
        let of_the_database = self.of_the_database();
        if let Some(rule) = of_the_database.and_then(Rule::broken_by) {
            return about(rule).to_owned();
        }
        // The error of the database is more specific than the error that wraps it.
        let this: &(dyn Error + 'static) = match of_the_database {
            Some(error) => error,
            None => self,
        };
        let mut phrases: Vec<String> = Vec::new();
        for phrase in iter::successors(Some(this), |&error| error.source()).map(ToString::to_string) {
            // A transparent error has the same text as its source.
            if phrases.last() != Some(&phrase) {
                phrases.push(phrase);
            }
        }
        let text = one_line(&phrases.join(": "));
        match self.advice() {
            Some(advice) => format!("{text}; {advice}"),
            None => text,
        }
    }

    fn advice(&self) -> Option<&'static str> {
        if let Self::Onboarding(error) = self {
            return advice_about_onboarding(error);
        }
        if matches!(self, Self::Unprinted(_)) {
            return Some("it was done; replace a secret that was not shown with `vendctl secret rotate`");
        }
        if let Self::Reverse(ReverseError::NoPayment(_) | ReverseError::Reversed { .. }) = self {
            return Some("nothing was posted; `vendctl wallet statement ACCOUNT` shows the entries");
        }
        if matches!(self, Self::Payment(PaymentError::Refused(_)) | Self::Reverse(ReverseError::Refused(_))) {
            return Some("nothing was posted");
        }
        if matches!(self, Self::Account(AccountRefusal::NotEmpty { .. })) {
            return Some("wait until no purchase is open, and empty it with `vendctl wallet adjust`");
        }
        if matches!(self, Self::Audit(_)) {
            return Some(
                "change nothing, copy the database, and follow VendgateInvariantBroken in the runbook",
            );
        }
        if matches!(self, Self::Allow(AllowError::Full)) {
            return Some("nothing was added; remove others with `vendctl allow-list remove`");
        }
        if let Self::Decision(error) = self {
            return advice_about_decision(error);
        }
        if let Self::UnmatchedVend(error) = self {
            return advice_about_unmatched_vend(error);
        }
        if matches!(self, Self::Discrepancy(DiscrepancyError::Absent(_) | DiscrepancyError::Decided { .. })) {
            return Some("nothing was closed; `vendctl discrepancies list --all` shows every one");
        }
        if let Self::Erase(error) = self {
            return advice_about_erasure(error);
        }
        if matches!(self, Self::Archive(ArchiveError::Differs(_))) {
            return Some("the rest was not removed; write a new archive of what is left, and remove that");
        }
        self.of_the_database().and_then(advice_about)
    }

    fn of_the_database(&self) -> Option<&DatabaseError> {
        if let Self::Database(error)
        | Self::Onboarding(OnboardingError::Database(error))
        | Self::Payment(PaymentError::Database(error))
        | Self::Reverse(ReverseError::Database(error))
        | Self::Allow(AllowError::Database(error))
        | Self::Decision(DecisionError::Database(error))
        | Self::Incident(IncidentError::Database(error))
        | Self::UnmatchedVend(UnmatchedVendError::Database(error))
        | Self::Discrepancy(DiscrepancyError::Database(error))
        | Self::Erase(EraseError::Database(error))
        | Self::Archive(ArchiveError::Database(error) | ArchiveError::Differs(error)) = self
        {
            return Some(error);
        }
        None
    }
}

/// What to do when an organisation, client or user could not be created or changed.
fn advice_about_onboarding(error: &OnboardingError) -> Option<&'static str> {
    match error {
        OnboardingError::NoOrganisation(_) => Some("`vendctl organisation list` shows all"),
        OnboardingError::NoClient(_) => Some("`vendctl client list -o CODE` shows an organisation's"),
        OnboardingError::NoUser { .. } => Some("`vendctl user list -o CODE` shows an organisation's"),
        OnboardingError::PasswordLength => {
            Some("give another one to --password-stdin, or have one made by --generate-password")
        }
        OnboardingError::Overlap => Some("give a shorter --overlap"),
        OnboardingError::Database(error) => advice_about(error),
        OnboardingError::Password(_) | OnboardingError::Unhashed(_) | OnboardingError::Entropy(_) => None,
    }
}

/// What to do about a purchase that was not decided.
fn advice_about_decision(error: &DecisionError) -> Option<&'static str> {
    match error {
        DecisionError::NotInReview { state, .. } => Some(match state {
            StateName::InFlight | StateName::InDoubt => {
                "no decision is possible while the provider may still answer; `vendctl purchases show` says when it is asked next"
            }
            StateName::RetryDue => "nothing was vended, and the service attempts again by itself",
            StateName::Successful => "it stays vended and paid for",
            StateName::Failed => "it stays failed; a vend that is found later becomes an incident",
            StateName::Review => "it was not claimed; try again",
        }),
        DecisionError::VendOfAnother { .. } => Some(
            "nothing was decided; compare both with `vendctl purchases show`, and ask the provider which sale is which",
        ),
        DecisionError::Held { .. } => Some("the worker asks about it right now; try again in a few seconds"),
        DecisionError::OtherKey(_) => {
            Some("give vendctl the [sealing] section that the servers have; nothing was decided")
        }
        DecisionError::Unacknowledged(_) => Some(
            "it may or may not have been decided: check with `vendctl purchases show` before you enter it again",
        ),
        DecisionError::Absent(_) => Some("`vendctl purchases list` finds it"),
        DecisionError::Database(error) => advice_about(error),
    }
}

/// What to do about unmatched vends that were not decided.
fn advice_about_unmatched_vend(error: &UnmatchedVendError) -> Option<&'static str> {
    match error {
        UnmatchedVendError::Absent(_) => {
            Some("nothing was decided; `vendctl recover list --all` shows every one")
        }
        UnmatchedVendError::Decided { .. } => {
            Some("nothing was decided; leave it out, or correct the wallet with `vendctl wallet adjust`")
        }
        UnmatchedVendError::NoSum => Some("nothing was decided; decide those of one currency at a time"),
        UnmatchedVendError::Refused(_) => Some("nothing was decided"),
        UnmatchedVendError::Database(error) => advice_about(error),
    }
}

/// What to do about a person whose data was not erased.
fn advice_about_erasure(error: &EraseError) -> Option<&'static str> {
    match error {
        EraseError::Open(_) => Some("nothing was erased; erase it when the purchase has ended a week ago"),
        EraseError::Recent { .. } => Some("nothing was erased; erase it a week after that"),
        EraseError::Incident(_) => Some("nothing was erased; close it by `vendctl incidents close` first"),
        EraseError::OpenBatch(_) => Some("nothing was erased; wait until the batch is finished or cancelled"),
        EraseError::Database(error) => advice_about(error),
    }
}

/// What to do about a failure of the store.
fn advice_about(error: &DatabaseError) -> Option<&'static str> {
    if error.may_have_been_kept() {
        return Some(
            "it may or may not have been done: check with `vendctl audit list`; a payment may be entered again under its --id",
        );
    }
    if error.is_forbidden() || matches!(error, DatabaseError::Setting { name: "role", .. }) {
        return Some(
            "operator.database_url must name a login that is a member of vendgate_operator and owns nothing",
        );
    }
    if matches!(error, DatabaseError::Schema { .. } | DatabaseError::ProgramTooOld { .. }) {
        return Some("use the vendctl of the servers' release");
    }
    if matches!(error, DatabaseError::Busy { .. }) {
        return Some("nothing was done; try again");
    }
    matches!(error, DatabaseError::Unavailable { .. })
        .then_some("is operator.database_url right, and does the database run?")
}

/// What to do about a rule of the database that was violated.
const fn about(rule: Rule) -> &'static str {
    match rule {
        Rule::OneCode => "the CODE is taken; choose another one",
        Rule::OneUsername => "the organisation has a user of that name; choose another USERNAME",
        Rule::OneCommissionWallet => {
            "the organisation has a wallet for commission of that --currency; open one of another --category"
        }
        Rule::OnePaymentReference => "another payment has that --id; nothing was posted",
        Rule::OfferNeedsProvider => "there is no such PROVIDER; enter it with `vendctl provider declare`",
        Rule::OfferNeedsProduct | Rule::TextNeedsProduct => {
            "the PRODUCT is not entered yet; do so with `vendctl product set`"
        }
        Rule::PauseEndsLater => "a pause ends after it begins; give a later --until, or none",
        Rule::PauseNeedsProduct => "the --product is not entered yet; do so with `vendctl product set`",
        Rule::DefaultNeedsOffer => {
            "a default PROVIDER needs its offer; set the offer first, and remove it last, with `vendctl offer`"
        }
    }
}
