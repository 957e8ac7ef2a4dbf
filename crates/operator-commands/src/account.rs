//! `vendctl account`: the wallets of an organisation, and how purchases from each are handled.

use back_office::{AccountChange, AccountRecord, AccountStatus, NewAccount};
use clap::{Args, Subcommand};
use ledger::{AccountId, Category};
use money::Currency;
use purchase::{Handling, OrganisationId};
use serde::Serialize;

use crate::{
    arguments::{Whose, Why},
    error::VendctlError,
    parse::{self, Amount},
    report::{Report, Row, instant, or_dash, yes},
    session::Session,
    words,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Open a wallet; in staging the first one in BWP is loaded with BWP 1000000.00
    #[command(
        after_help = "Example:\n  vendctl account open -o KGALE --name Wallet --currency BWP --handling managed \
                      --reason \"contract 17\""
    )]
    Open(Open),
    /// List an organisation's wallets with their posted, held and available amounts
    #[command(after_help = "Example:\n  vendctl account list -o KGALE --json")]
    List {
        #[command(flatten)]
        whose: Whose,
    },
    /// Change a wallet's settings; settings that are not named stay unchanged
    #[command(
        after_help = "Example:\n  vendctl account set 17 --handling managed --retries on --reason \"ticket 88\""
    )]
    Set(Set),
    /// Suspend a wallet: no purchase can be made from it
    #[command(after_help = "Example:\n  vendctl account suspend 17 --reason \"invoice 12 is overdue\"")]
    Suspend(Standing),
    /// Close an empty wallet
    #[command(after_help = "Example:\n  vendctl account close 17 --reason \"contract 17 has ended\"")]
    Close(Standing),
    /// Reopen a suspended or closed wallet
    #[command(after_help = "Example:\n  vendctl account readmit 17 --reason \"invoice 12 is paid\"")]
    Readmit(Standing),
}

#[derive(Debug, Args)]
pub(crate) struct Open {
    #[command(flatten)]
    whose: Whose,
    /// Its label
    #[arg(long, value_parser = parse::name)]
    name: String,
    /// The currency of all its amounts, such as BWP: one with two decimals
    #[arg(long, value_name = "CCY", value_parser = parse::currency_of_a_wallet)]
    currency: Currency,
    /// Its purpose
    #[arg(long, default_value = "current", value_parser = words::category())]
    category: Category,
    /// Whether the integrator or this service settles doubt about purchases from it
    #[arg(long, default_value = "self-managed", value_parser = words::handling())]
    handling: Handling,
    /// Its position in the organisation's list
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    rank: i32,
    #[command(flatten)]
    why: Why,
}

#[derive(Debug, Args)]
#[group(id = "change", multiple = true)]
pub(crate) struct Set {
    /// The account's number
    account: i64,
    /// Its label
    #[arg(long, value_parser = parse::name)]
    name: Option<String>,
    /// Whether the integrator or this service settles doubt about purchases from now on
    #[arg(long, value_parser = words::handling())]
    handling: Option<Handling>,
    /// Whether the retry endpoint may settle purchases
    #[arg(long, value_parser = words::switch())]
    retries: Option<bool>,
    /// Its position in the organisation's list
    #[arg(long, allow_negative_numbers = true)]
    rank: Option<i32>,
    /// The balance below which the integrator is told that the wallet is low, such as 500.00; 0 switches this off
    #[arg(long, value_name = "AMOUNT", value_parser = parse::charge)]
    low_balance: Option<Amount>,
    #[command(flatten)]
    why: Why,
}

#[derive(Debug, Args)]
pub(crate) struct Standing {
    /// The account's number
    account: i64,
    #[command(flatten)]
    why: Why,
}

#[derive(Serialize)]
struct View {
    id: i64,
    name: String,
    category: &'static str,
    currency: String,
    status: &'static str,
    posted: String,
    held: String,
    available: String,
    handling: &'static str,
    retries: bool,
    rank: i32,
    low_balance: Option<String>,
    created_at: String,
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::Open(open) => open.run(session).await,
        Verb::List { whose } => {
            let organisation = session.organisation_id(&whose.organisation).await?;
            let accounts = back_office::accounts_of(session.database(), organisation).await?;
            Ok(Report::list(&accounts.into_iter().map(View::from).collect::<Vec<_>>()))
        }
        Verb::Set(set) => set.run(session).await,
        Verb::Suspend(standing) => standing.becomes(session, AccountStatus::Suspended).await,
        Verb::Close(standing) => standing.becomes(session, AccountStatus::Closed).await,
        Verb::Readmit(standing) => standing.becomes(session, AccountStatus::Active).await,
    }
}

impl Open {
    async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        let organisation: OrganisationId = session.organisation_id(&self.whose.organisation).await?;
        let account = NewAccount {
            organisation,
            name: self.name.clone(),
            currency: self.currency,
            category: self.category,
            handling: self.handling,
            rank: self.rank,
        };
        let act = session.act(&self.why);
        let opened = back_office::open_account_for_staging(
            session.database(),
            account,
            back_office::staging_load(),
            act,
        )
        .await?;
        let report = show(session, opened.id.0).await?;
        Ok(match opened.loaded {
            Some(load) => report.noting(&format!("Loaded with {load}, like every first wallet in staging.")),
            None => report,
        })
    }
}

impl Set {
    async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        let currency = session.account(self.account).await?.currency;
        let change = AccountChange {
            name: self.name.clone(),
            handling: self.handling,
            retries_enabled: self.retries,
            rank: self.rank,
            low_balance: self.low_balance.map(|amount| amount.of(currency).minor()),
        };
        if change.is_empty() {
            return Err(VendctlError::NothingToChange);
        }
        back_office::change_account(
            session.database(),
            AccountId(self.account),
            change,
            session.act(&self.why),
        )
        .await?;
        show(session, self.account).await
    }
}

impl Standing {
    async fn becomes(&self, session: &Session, status: AccountStatus) -> Result<Report, VendctlError> {
        session.account(self.account).await?;
        back_office::set_account_status(
            session.database(),
            AccountId(self.account),
            status,
            session.act(&self.why),
        )
        .await??;
        show(session, self.account).await
    }
}

async fn show(session: &Session, account: i64) -> Result<Report, VendctlError> {
    Ok(Report::one(&View::from(session.account(account).await?)))
}

impl From<AccountRecord> for View {
    fn from(record: AccountRecord) -> Self {
        Self {
            id: record.id.0,
            name: record.name,
            category: record.category.as_str(),
            currency: record.currency.to_string(),
            status: record.status.as_str(),
            posted: record.posted.to_string(),
            held: record.held.to_string(),
            available: record.available.to_string(),
            handling: record.handling.as_str(),
            retries: record.retries_enabled,
            rank: record.rank,
            low_balance: record.low_balance.map(|amount| amount.to_string()),
            created_at: instant(record.created_at),
        }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "name",
        "category",
        "status",
        "posted",
        "held",
        "available",
        "handling",
        "retries",
        "rank",
        "low below",
        "created at",
    ];
    const MOMENTS: &'static [&'static str] = &["created at"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.name.clone(),
            self.category.to_owned(),
            self.status.to_owned(),
            self.posted.clone(),
            self.held.clone(),
            self.available.clone(),
            self.handling.to_owned(),
            yes(self.retries),
            self.rank.to_string(),
            or_dash(self.low_balance.as_deref()),
            self.created_at.clone(),
        ]
    }
}
