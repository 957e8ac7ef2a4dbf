//! `vendctl wallet`: payments into a wallet and corrections, posted in the ledger, and the statement of postings.

use back_office::{Movement, Paid, Payment, StatementLine, StatementQuery};
use clap::{Args, Subcommand};
use ledger::{AccountId, SystemAccount};
use money::Currency;
use serde::Serialize;

use crate::{
    arguments::Why,
    error::VendctlError,
    parse::{self, Amount},
    report::{Report, Row, instant, or_dash},
    session::Session,
    words::{self, Direction},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Post a payment of an integrator
    #[command(
        after_help = "Example:\n  vendctl wallet top-up 17 5000.00 --currency BWP --id FNB-20261120-4711 \
                      --reason \"bank transfer\""
    )]
    TopUp {
        /// The account's number
        account: i64,
        /// How much, such as 5000.00
        #[arg(value_parser = parse::amount)]
        amount: Amount,
        #[command(flatten)]
        named: Named,
    },
    /// Correct a balance, up or down; never below the amount that is held for open purchases
    #[command(after_help = "Example:\n  vendctl wallet adjust 17 down 50.00 --currency BWP --id TICKET-88 \
                      --reason \"topped up twice\"")]
    Adjust {
        /// The account's number
        account: i64,
        /// Whether the balance rises or falls
        #[arg(value_parser = words::direction())]
        direction: Direction,
        /// By how much, such as 50.00
        #[arg(value_parser = parse::amount)]
        amount: Amount,
        /// The system account on the other side: payments of integrators, or vends that no wallet paid for
        #[arg(long, default_value = "funding", value_parser = words::against())]
        against: SystemAccount,
        #[command(flatten)]
        named: Named,
    },
    /// Show the postings of a wallet, the newest first
    #[command(
        after_help = "Examples:\n  vendctl wallet statement 17\n  vendctl wallet statement 17 --before 4711 --limit 200"
    )]
    Statement {
        /// The account's number
        account: i64,
        /// The greatest number of journal entries to show
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// Only entries before this one, for the next page
        #[arg(long, value_name = "ENTRY")]
        before: Option<i64>,
    },
}

/// The arguments of every payment, besides its amount.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// The currency of the amount, which must be the wallet's
    #[arg(long, value_name = "CCY", value_parser = parse::currency)]
    currency: Currency,
    /// Your own id of the payment, such as the bank's reference: each id is posted once
    ///
    /// If you enter the same command again, it posts nothing and says so. Another payment under the same id is refused.
    #[arg(long, value_name = "REFERENCE", value_parser = parse::reference)]
    id: String,
    #[command(flatten)]
    why: Why,
}

#[derive(Serialize)]
struct PaidView {
    entry: i64,
    account: i64,
    reference: String,
    amount: String,
    posted_at: String,
    posted_before: bool,
    available: String,
}

#[derive(Serialize)]
struct LineView {
    entry: i64,
    posted_at: String,
    kind: String,
    amount: String,
    counterpart: String,
    purchase: Option<i64>,
    reference: Option<String>,
    reason: Option<String>,
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::TopUp { account, amount, named } => {
            named.pay(session, *account, Movement::TopUp, *amount).await
        }
        Verb::Adjust { account, direction, amount, against, named } => {
            let movement = match direction {
                Direction::Up => Movement::AdjustUp(*against),
                Direction::Down => Movement::AdjustDown(*against),
            };
            named.pay(session, *account, movement, *amount).await
        }
        Verb::Statement { account, limit, before } => {
            let account = session.account(*account).await?.id;
            let query = StatementQuery { account, before: *before, limit: *limit };
            let lines = back_office::account_statement(session.database(), query).await?;
            Ok(Report::list(&lines.into_iter().map(LineView::from).collect::<Vec<_>>()))
        }
    }
}

impl Named {
    async fn pay(
        &self,
        session: &Session,
        account: i64,
        movement: Movement,
        amount: Amount,
    ) -> Result<Report, VendctlError> {
        let amount = amount.of(self.currency);
        let (wallet, reference) = (AccountId(account), Some(self.id.clone()));
        let payment = Payment { wallet, movement, amount, reference };
        let paid = back_office::pay(session.database(), payment, session.act(&self.why)).await?;
        let report = Report::one(&self.view(account, amount.to_string(), &paid));
        Ok(if paid.was_there {
            report.noting("This payment had already been posted. Nothing was posted now.")
        } else {
            report
        })
    }

    fn view(&self, account: i64, amount: String, paid: &Paid) -> PaidView {
        PaidView {
            entry: paid.entry,
            account,
            reference: self.id.clone(),
            amount,
            posted_at: instant(paid.posted_at),
            posted_before: paid.was_there,
            available: paid.available.to_string(),
        }
    }
}

impl From<StatementLine> for LineView {
    fn from(line: StatementLine) -> Self {
        Self {
            entry: line.entry,
            posted_at: instant(line.posted_at),
            kind: line.kind,
            amount: line.amount.to_string(),
            counterpart: line.counterpart,
            purchase: line.purchase,
            reference: line.reference,
            reason: line.reason,
        }
    }
}

impl Row for PaidView {
    const COLUMNS: &'static [&'static str] =
        &["entry", "account", "reference", "amount", "posted at", "available"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.entry.to_string(),
            self.account.to_string(),
            self.reference.clone(),
            self.amount.clone(),
            self.posted_at.clone(),
            self.available.clone(),
        ]
    }
}

impl Row for LineView {
    const COLUMNS: &'static [&'static str] =
        &["entry", "posted at", "kind", "amount", "counterpart", "purchase", "reference", "reason"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.entry.to_string(),
            self.posted_at.clone(),
            self.kind.clone(),
            self.amount.clone(),
            self.counterpart.clone(),
            or_dash(self.purchase.map(|purchase| purchase.to_string()).as_deref()),
            or_dash(self.reference.as_deref()),
            or_dash(self.reason.as_deref()),
        ]
    }
}
