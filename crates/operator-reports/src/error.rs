//! The errors of commands. Each is one line that says what to do about it.

mod advice;
mod fetch;

use std::{error::Error, io, iter};

use back_office::{
    AccountRefusal, AccountReportError, ApproveError, ArchiveError, EraseError, PaymentError, RequestSubject,
    ReverseError, Rule, UnmatchedVendError,
};
use boot::SettingsError;
use catalogue::AllowError;
use chrono_tz::Tz;
use database::{AddressError, DatabaseError};
use directory::AuditFault;
use identity::{EntropyError, OnboardingError};
use money::{Money, MoneyError};
use oversight::IncidentError;
use purchase::{PatternError, StateName};
use reconciliation::DiscrepancyError;
use store::{DecisionError, SealError};
use vend::Product;

use advice::about;

pub use fetch::FetchError;

use crate::{
    archive_file::ArchiveFault,
    outside::OutsidePeriod,
    purchases::token::TokenFault,
    report::one_line,
    settings::{BadCeiling, UnknownTimeZone},
    statement::StatementFileError,
};

#[derive(Debug, thiserror::Error)]
pub enum VendctlError {
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
    #[error(
        "the login {0} is no operator's; its owner makes it a member of vendgate_support, vendgate_finance or \
         vendgate_administrator"
    )]
    NoOperator(String),
    #[error("this needs the role {needs}; you have {has}. Nothing was done; ask a person with that role")]
    NeedsRole { needs: String, has: String },
    #[error(
        "the link is not valid: it was used, or it has expired; enter `vendctl console link` for another"
    )]
    NoLink,
    #[error(
        "database_url has no password to be sealed in a link; the console works for logins with a password, so use vendctl"
    )]
    NoPasswordToSeal,
    #[error(
        "this identity was added before; `vendctl console identity list` shows the login that added it. That login or an \
         administrator removes it"
    )]
    IdentityTaken,
    #[error(
        "there is no such identity of yours; `vendctl console identity list` has all, and an administrator removes those of others"
    )]
    NoIdentity,
    #[error("the database does not let the console be {login}")]
    NotLetIn { login: String, source: DatabaseError },
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error("there is no request {0}; `vendctl approvals list --all` shows every one")]
    NoRequest(i64),
    #[error("this was requested by you; another person with the same role approves it")]
    OwnRequest,
    #[error("the request has expired; enter the command that made it again")]
    RequestExpired,
    #[error("request {0} cannot be read; reject it, and enter the command that made it again")]
    UnreadableRequest(i64),
    #[error(
        "request {request} of {by} about {about} waits; approve it, or reject it with `vendctl approvals reject {request}` \
         before you decide otherwise"
    )]
    RequestWaits { request: i64, by: String, about: RequestSubject },
    #[error(
        "request {0} is about a vend with a token; to approve it, enter the token again as the provider has it: `vendctl approvals \
         approve {0}` with --token-stdin or --token-file"
    )]
    TokenToApprove(i64),
    #[error(
        "this is not the token of request {0}, so one of the two is wrong; nothing was decided. Compare yours with the provider's list; \
         `vendctl approvals reject {0}` turns the request down"
    )]
    NotTheRequestedToken(i64),
    #[error("request {0} is about no token; leave --token-stdin and --token-file out")]
    RequestHasNoToken(i64),
    #[error("{0} has no amount; leave --above out")]
    NoAmount(&'static str),
    #[error(transparent)]
    Approve(#[from] ApproveError),
    #[error("--on-behalf-of, or the actor in the settings, is not valid: {0}")]
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
    #[error(
        "the payment under {id}, entry {entry}, was reversed by entry {by}; nothing was posted. --again posts another one under the id"
    )]
    ReversedId { id: String, entry: i64, by: i64 },
    #[error(
        "entry {0} has this id, and was not reversed; nothing was posted. Leave --again out, or reverse that first"
    )]
    NotReversed(i64),
    #[error("nothing was posted under {0} yet; leave --again out")]
    NeverPosted(String),
    #[error("the id and (2) would be longer than 64 characters; choose another --id")]
    LongId,
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
    #[error(
        "--actor and --on-behalf-of say for whom you act, and filter nothing; the lines of one person are those of --login"
    )]
    AuditByLogin,
    #[error("a user belongs to an organisation: name that of {0} too, with --organisation")]
    WhoseUser(String),
    #[error("the archive does not hold purchase {0}")]
    NotInArchive(i64),
    #[error(transparent)]
    StatementFile(#[from] StatementFileError),
    #[error(transparent)]
    StatementFetch(#[from] FetchError),
    #[error(transparent)]
    OutsidePeriod(Box<OutsidePeriod>),
    #[error(
        "line {line} of the statement: {reference} is the order of purchase {purchase} at {of}, so this is no statement of {provider}; \
         nothing was done. Name the provider that wrote it"
    )]
    StatementOfAnother { line: i64, reference: String, purchase: i64, of: String, provider: String },
    #[error("a period is a --date, or begins --from a moment and ends --until a later one")]
    NoStatementPeriod,
    #[error("the period ends only at {until} ({zone}); give a --date or an --until that is over")]
    PeriodIsNotOver { until: String, zone: Tz },
    #[error("there is no reconciliation {0}; `vendctl reconciliations list` shows those there are")]
    NoReconciliation(i64),
    #[error(transparent)]
    Discrepancy(#[from] DiscrepancyError),
    #[error("the audit log is not intact")]
    Audit(#[from] AuditFault),
    #[error(
        "there is no purchase {0}; `vendctl purchases search` finds it by its meter, its receipt or the integrator's reference"
    )]
    NoPurchase(String),
    #[error("purchase {purchase} is {}, so there is no message with a token; nothing was sent", state.as_str())]
    NothingSold { purchase: i64, state: StateName },
    #[error("the token of purchase {0} was erased, so there is nothing to send; nothing was sent")]
    TokenErased(i64),
    #[error("the phone number of purchase {0} was erased; give the customer's number with --to")]
    NumberErased(i64),
    #[error(
        "the message was sent again {limit} times within a day, by integrators and operators together; try again tomorrow, or \
         let the integrator read the token to the customer"
    )]
    MessagesOfTheDay { limit: u8 },
    #[error(
        "to be shown tokens you need the role vendgate_token_reader as well; nothing was shown. Who administers the database gives \
         it: GRANT vendgate_token_reader TO {0}. `vendctl purchases resend` sends the customer's message again"
    )]
    NoTokenReader(String),
    #[error("purchase {purchase} is {}, so nothing is known to be vended, and there is no token", state.as_str())]
    NothingVended { purchase: i64, state: StateName },
    #[error("the token of purchase {0} was erased; no program has it any more")]
    NoTokenAnyMore(i64),
    #[error("purchase {purchase} has no token: a vend of {product} came without one, or it was erased")]
    NeverHadAToken { purchase: i64, product: Product },
    #[error(
        "you were shown {limit} tokens within a day, which is all that operator.tokens_per_day allows; nothing was shown. Try again \
         tomorrow, or send the message again with `vendctl purchases resend`"
    )]
    TokensOfTheDay { limit: u8 },
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
    #[error(
        "the statement {file} of {provider} has a vend of this purchase (reconciliation {run}); decide it with --as vended, or add \
         --despite-statement if the provider has taken the vend back, which needs a second person"
    )]
    Listed { file: String, provider: String, run: i64 },
    #[error(
        "since request {request} was made, the statement {file} was found to have a vend of this purchase (reconciliation {run}); reject \
         the request, and have the purchase decided again"
    )]
    ListedSince { request: i64, file: String, run: i64 },
    #[error("no statement has a vend of this purchase; leave --despite-statement out")]
    NotListed,
    #[error(
        "no index has the phone of a token, an amount or a state, so they need a start: add --since today, or name what is searched"
    )]
    SearchForNothing,
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
    #[error("provider {0} has no circuit breaker")]
    NoBreaker(String),
    #[error(
        "provider {provider} has no pause {pause} that could be ended; `vendctl provider show {provider}` shows those it has"
    )]
    NoPause { provider: String, pause: i64 },
    #[error(
        "no organisation is offered {product} of {provider}, so there is nothing to pause; `vendctl provider list` shows the providers, \
         and `vendctl offer list -o CODE` what one organisation is offered"
    )]
    NotSold { provider: String, product: Product },
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
    AccountReport(#[from] AccountReportError),
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
    #[must_use]
    pub fn if_absent(self, error: DatabaseError) -> Self {
        if matches!(error, DatabaseError::Absent { .. }) { self } else { Self::Database(error) }
    }

    /// `self`, if `error` is a violation of `rule`; otherwise the error of the database.
    #[must_use]
    pub fn if_broken(self, rule: Rule, error: DatabaseError) -> Self {
        if Rule::broken_by(&error) == Some(rule) { self } else { Self::Database(error) }
    }

    /// What went wrong, why, and what to do, in one line.
    pub fn line(&self) -> String {
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

    /// The error of the database that it wraps, if it is one.
    pub fn of_the_database(&self) -> Option<&DatabaseError> {
        if let Self::Database(error)
        | Self::Onboarding(OnboardingError::Database(error))
        | Self::AccountReport(AccountReportError::Database(error))
        | Self::Payment(PaymentError::Database(error))
        | Self::Reverse(ReverseError::Database(error))
        | Self::Allow(AllowError::Database(error))
        | Self::Decision(DecisionError::Database(error))
        | Self::Incident(IncidentError::Database(error))
        | Self::UnmatchedVend(UnmatchedVendError::Database(error))
        | Self::Discrepancy(DiscrepancyError::Database(error))
        | Self::Erase(EraseError::Database(error))
        | Self::Approve(
            ApproveError::Database(error)
            | ApproveError::Reverse(ReverseError::Database(error))
            | ApproveError::UnmatchedVend(UnmatchedVendError::Database(error)),
        )
        | Self::Archive(ArchiveError::Database(error) | ArchiveError::Differs(error)) = self
        {
            return Some(error);
        }
        if let Self::Decision(DecisionError::Refused(error)) = self {
            return Some(error);
        }
        None
    }
}
