//! `vendctl account`: the wallets of an organisation, and how purchases out of each are handled.

use clap::{Args, Subcommand};
use ledger::{AccountId, Category};
use money::Currency;
use purchase::{Handling, OrganisationId};
use serde::Serialize;
use store::{AccountChange, AccountRecord, AccountStatus, NewAccount};

use crate::{
    arguments::{Whose, Why},
    desk::Desk,
    error::VendctlError,
    parse,
    report::{Report, Row, instant, yes},
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
    /// List an organisation's wallets: what is posted, what of it is held, what can be spent
    #[command(after_help = "Example:\n  vendctl account list -o KGALE --json")]
    List {
        #[command(flatten)]
        whose: Whose,
    },
    /// Change a wallet's settings; what is not named stays
    #[command(
        after_help = "Example:\n  vendctl account set 17 --handling managed --retries on --reason \"ticket 88\""
    )]
    Set(Set),
    /// Let nothing be bought out of a wallet
    #[command(after_help = "Example:\n  vendctl account suspend 17 --reason \"invoice 12 is overdue\"")]
    Suspend(Standing),
    /// Take an empty wallet out of use
    #[command(after_help = "Example:\n  vendctl account close 17 --reason \"contract 17 has ended\"")]
    Close(Standing),
    /// Take a suspended or closed wallet into use again
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
    /// Of all its amounts, such as BWP
    #[arg(long, value_name = "CCY", value_parser = parse::currency)]
    currency: Currency,
    /// What it is for
    #[arg(long, default_value = "current", value_parser = words::category())]
    category: Category,
    /// Who settles doubt about purchases out of it: the integrator, or this service
    #[arg(long, default_value = "self-managed", value_parser = words::handling())]
    handling: Handling,
    /// Its place in the organisation's list
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
    /// Who settles doubt about purchases that are made from now on
    #[arg(long, value_parser = words::handling())]
    handling: Option<Handling>,
    /// Whether the retry endpoint may settle them
    #[arg(long, value_parser = words::switch())]
    retries: Option<bool>,
    /// Its place in the organisation's list
    #[arg(long, allow_negative_numbers = true)]
    rank: Option<i32>,
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
    created_at: String,
}

pub(crate) async fn run(desk: &Desk, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::Open(open) => open.run(desk).await,
        Verb::List { whose } => {
            let organisation = desk.organisation_id(&whose.organisation).await?;
            let accounts = desk.store.accounts_of(organisation).await?;
            Ok(Report::list(&accounts.into_iter().map(View::from).collect::<Vec<_>>()))
        }
        Verb::Set(set) => set.run(desk).await,
        Verb::Suspend(standing) => standing.becomes(desk, AccountStatus::Suspended).await,
        Verb::Close(standing) => standing.becomes(desk, AccountStatus::Closed).await,
        Verb::Readmit(standing) => standing.becomes(desk, AccountStatus::Active).await,
    }
}

impl Open {
    async fn run(&self, desk: &Desk) -> Result<Report, VendctlError> {
        let organisation: OrganisationId = desk.organisation_id(&self.whose.organisation).await?;
        let account = NewAccount {
            organisation,
            name: self.name.clone(),
            currency: self.currency,
            category: self.category,
            handling: self.handling,
            rank: self.rank,
        };
        let act = desk.act(&self.why);
        let opened = desk.store.open_account_for_staging(account, store::staging_load(), act).await?;
        let report = show(desk, opened.id.0).await?;
        Ok(match opened.loaded {
            Some(load) => report.noting(&format!("Loaded with {load}, as every first wallet in staging is.")),
            None => report,
        })
    }
}

impl Set {
    async fn run(&self, desk: &Desk) -> Result<Report, VendctlError> {
        let change = AccountChange {
            name: self.name.clone(),
            handling: self.handling,
            retries_enabled: self.retries,
            rank: self.rank,
        };
        if change.is_empty() {
            return Err(VendctlError::NothingToChange);
        }
        desk.account(self.account).await?;
        desk.store.change_account(AccountId(self.account), change, desk.act(&self.why)).await?;
        show(desk, self.account).await
    }
}

impl Standing {
    async fn becomes(&self, desk: &Desk, status: AccountStatus) -> Result<Report, VendctlError> {
        desk.account(self.account).await?;
        desk.store.set_account_status(AccountId(self.account), status, desk.act(&self.why)).await??;
        show(desk, self.account).await
    }
}

async fn show(desk: &Desk, account: i64) -> Result<Report, VendctlError> {
    Ok(Report::one(&View::from(desk.account(account).await?)))
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
        "created at",
    ];

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
            self.created_at.clone(),
        ]
    }
}
