//! `vendctl recover`: after a restore to a moment, finds the vends that only the providers have, and decides them.

mod statement_file;

use std::path::PathBuf;

use back_office::{
    Comparison, ListedVend, Standing, StatementPeriod, UnlistedPurchase, UnmatchedVendRecord, VendDecision,
};
use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use ledger::AccountId;
use serde::Serialize;

use crate::{
    arguments::Why,
    error::VendctlError,
    parse, provider,
    report::{Report, Row, instant, or_dash, yes},
    session::Session,
};

pub(crate) use statement_file::StatementFileError;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Compare a provider's statement with the purchases: what is missing on either side
    #[command(
        after_help = "The statement is a CSV file with these columns, in any order:\n  reference    our reference \
                            of the order\n  transaction  the provider's id of the vend\n  time         RFC 3339\n  \
                            product      ELECTRICITY, AIRTIME or WATER\n  subscriber\n  amount       such as 100.00, as \
                            the provider bills it\n  currency\n  token        may be absent or empty; several as \
                            `Description: Token|Description: Token`\n\nExample:\n  vendctl recover compare bpc.csv \
                            --provider BPC --from 2026-11-23T00:00:00Z --until 2026-11-24T00:00:00Z"
    )]
    Compare {
        #[command(flatten)]
        of: StatementOf,
        /// When the statement begins
        #[arg(long, value_name = "TIME", value_parser = parse::instant)]
        from: DateTime<Utc>,
        /// When the statement ends
        #[arg(long, value_name = "TIME", value_parser = parse::instant)]
        until: DateTime<Utc>,
    },
    /// Enter the vends of a statement that no purchase asked for: they are owed to the provider from now on
    #[command(
        after_help = "Entering a statement again enters nothing twice. `vendctl recover compare --help` has the \
                            columns of the file.\n\nExample:\n  vendctl recover enter bpc.csv --provider BPC --reason \
                            \"restored to 09:30 after INC-12\""
    )]
    Enter {
        #[command(flatten)]
        of: StatementOf,
        #[command(flatten)]
        why: Why,
    },
    /// List the unmatched vends that are not decided, the oldest first
    #[command(after_help = "Examples:\n  vendctl recover list\n  vendctl recover list --all --after 50")]
    List {
        /// Decided ones too
        #[arg(long)]
        all: bool,
        /// The greatest number of vends to show
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
        /// Only vends after this one, for the next page
        #[arg(long, value_name = "ID", default_value_t = 0)]
        after: i64,
    },
    /// Charge unmatched vends to the wallet of the integrator who sold them: all, or none of them
    #[command(
        after_help = "The wallet pays what the provider bills. Fee and commission are lost.\n\nExample:\n  \
                            vendctl recover charge 3 4 7 --account 17 --reason \"in KGALE's list of 24 November\""
    )]
    Charge {
        /// Their numbers
        #[arg(required = true, num_args = 1..=1000)]
        vends: Vec<i64>,
        /// The number of the wallet
        #[arg(long, value_name = "ACCOUNT")]
        account: i64,
        #[command(flatten)]
        why: Why,
    },
    /// Waive unmatched vends: no wallet pays for them, and they stay in suspense
    #[command(
        after_help = "Example:\n  vendctl recover waive 5 6 --reason \"no integrator has sold them; disputed with BPC\""
    )]
    Waive {
        /// Their numbers
        #[arg(required = true, num_args = 1..=1000)]
        vends: Vec<i64>,
        #[command(flatten)]
        why: Why,
    },
}

/// A statement, and the provider that wrote it.
#[derive(Debug, Args)]
pub(crate) struct StatementOf {
    /// The statement, a CSV file
    statement: PathBuf,
    /// The provider's code
    #[arg(long, value_name = "CODE", value_parser = parse::provider_code)]
    provider: String,
}

/// A difference between a statement and the purchases.
#[derive(Serialize)]
struct Difference {
    finding: &'static str,
    reference: String,
    purchase: Option<i64>,
    unmatched_vend: Option<i64>,
    at: String,
    subscriber: Option<String>,
    amount: String,
}

#[derive(Serialize)]
struct Compared {
    listed: usize,
    same: usize,
    differences: Vec<Difference>,
}

#[derive(Serialize)]
struct StatementEntered {
    listed: usize,
    entered: Vec<i64>,
    entered_before: usize,
}

#[derive(Serialize)]
struct View {
    id: i64,
    provider: String,
    reference: String,
    transaction: String,
    at: String,
    product: &'static str,
    subscriber: String,
    amount: String,
    has_token: bool,
    decision: Option<&'static str>,
    account: Option<i64>,
    decided_at: Option<String>,
    decided_by: Option<String>,
    decided_because: Option<String>,
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::Compare { of, from, until } => {
            of.compare(session, StatementPeriod { from: *from, until: *until }).await
        }
        Verb::Enter { of, why } => of.enter(session, why).await,
        Verb::List { all, limit, after } => {
            let found = back_office::list_unmatched_vends(session.database(), *all, *after, *limit).await?;
            Ok(Report::list(&found.into_iter().map(View::from).collect::<Vec<_>>()))
        }
        Verb::Charge { vends, account, why } => {
            decide(session, vends, VendDecision::Charge(AccountId(*account)), why).await
        }
        Verb::Waive { vends, why } => decide(session, vends, VendDecision::Waive, why).await,
    }
}

async fn decide(
    session: &Session,
    vends: &[i64],
    decision: VendDecision,
    why: &Why,
) -> Result<Report, VendctlError> {
    back_office::decide_unmatched_vends(session.database(), vends.to_vec(), decision, session.act(why))
        .await?;
    let open = back_office::list_unmatched_vends(session.database(), false, 0, 1000).await?;
    let views: Vec<View> = open.into_iter().map(View::from).collect();
    Ok(Report::list(&views).noting(&format!("{} decided. Above are those that are not.", vends.len())))
}

impl StatementOf {
    async fn read(&self, session: &Session) -> Result<Vec<ListedVend>, VendctlError> {
        // Of a provider that does not exist, every vend would be unmatched.
        provider::find(session, &self.provider).await?;
        statement_file::read(&self.statement)
    }

    async fn compare(&self, session: &Session, period: StatementPeriod) -> Result<Report, VendctlError> {
        let listed = self.read(session).await?;
        if let Some(outside) =
            listed.iter().find(|vend| !(period.from..period.until).contains(&vend.vended_at))
        {
            return Err(VendctlError::OutsidePeriod {
                reference: outside.provider_reference.clone(),
                at: instant(outside.vended_at),
            });
        }
        let comparison =
            back_office::compare_statement(session.database(), self.provider.clone(), listed.clone(), period);
        Ok(compared(&listed, comparison.await?))
    }

    async fn enter(&self, session: &Session, why: &Why) -> Result<Report, VendctlError> {
        let listed = self.read(session).await?;
        if listed.iter().any(|vend| vend.tokens.is_some()) {
            if !session.can_seal {
                return Err(VendctlError::NoSealingKey);
            }
            session.store.refuse_another_key().await?;
        }
        let count = listed.len();
        let (sealing, provider) = (session.store.sealing().clone(), self.provider.clone());
        let entered = back_office::enter_unmatched_vends(
            session.database(),
            sealing,
            provider,
            listed,
            session.act(why),
        );
        let entered = entered.await?;
        let view =
            StatementEntered { listed: count, entered: entered.entered, entered_before: entered.known };
        Ok(Report::one(&view).noting("`vendctl recover list` shows what is to be decided."))
    }
}

fn compared(listed: &[ListedVend], comparison: Comparison) -> Report {
    let found =
        listed.iter().zip(&comparison.standings).filter_map(|(vend, standing)| difference(vend, standing));
    let mut differences: Vec<Difference> = found.collect();
    let same = listed.len() - differences.len();
    differences.extend(comparison.unlisted.into_iter().map(Difference::from));
    let table = Report::list(&differences).text();
    let text = format!(
        "{table}\n{} listed, {same} as purchased, {} differences.\n",
        listed.len(),
        differences.len()
    );
    Report::text_and_data(&Compared { listed: listed.len(), same, differences }, text)
}

fn difference(vend: &ListedVend, standing: &Standing) -> Option<Difference> {
    let (finding, purchase, unmatched_vend) = match standing {
        Standing::Same(_) => return None,
        Standing::Unmatched => ("unmatched", None, None),
        Standing::Entered(id) => ("entered", None, Some(*id)),
        Standing::Open(id, _) => ("open", Some(id.0), None),
        Standing::Different(id, _) => ("different", Some(id.0), None),
    };
    Some(Difference {
        finding,
        reference: vend.provider_reference.clone(),
        purchase,
        unmatched_vend,
        at: instant(vend.vended_at),
        subscriber: Some(vend.subscriber_identifier.clone()),
        amount: vend.net.to_string(),
    })
}

impl From<UnlistedPurchase> for Difference {
    fn from(purchase: UnlistedPurchase) -> Self {
        Self {
            finding: "not listed",
            reference: purchase.provider_reference,
            purchase: Some(purchase.purchase.0),
            unmatched_vend: None,
            at: instant(purchase.sent_at),
            subscriber: None,
            amount: purchase.net.to_string(),
        }
    }
}

impl From<UnmatchedVendRecord> for View {
    fn from(record: UnmatchedVendRecord) -> Self {
        let account = record.charged.map(|account| account.0);
        let decision = match (&record.decided, account) {
            (None, _) => None,
            (Some(_), Some(_)) => Some("charged"),
            (Some(_), None) => Some("waived"),
        };
        let (decided_at, decided_by, decided_because) = match record.decided {
            Some((at, by, because)) => (Some(instant(at)), Some(by), Some(because)),
            None => (None, None, None),
        };
        Self {
            id: record.id,
            provider: record.provider_code,
            reference: record.provider_reference,
            transaction: record.provider_transaction,
            at: instant(record.vended_at),
            product: record.product.as_str(),
            subscriber: record.subscriber_identifier,
            amount: record.net.to_string(),
            has_token: record.has_token,
            decision,
            account,
            decided_at,
            decided_by,
            decided_because,
        }
    }
}

impl Row for Difference {
    const COLUMNS: &'static [&'static str] =
        &["finding", "reference", "purchase", "unmatched vend", "at", "subscriber", "amount"];

    fn cells(&self) -> Vec<String> {
        let number = |id: Option<i64>| or_dash(id.map(|id| id.to_string()).as_deref());
        vec![
            self.finding.to_owned(),
            self.reference.clone(),
            number(self.purchase),
            number(self.unmatched_vend),
            self.at.clone(),
            or_dash(self.subscriber.as_deref()),
            self.amount.clone(),
        ]
    }
}

impl Row for StatementEntered {
    const COLUMNS: &'static [&'static str] = &["listed", "entered", "entered before"];

    fn cells(&self) -> Vec<String> {
        vec![self.listed.to_string(), self.entered.len().to_string(), self.entered_before.to_string()]
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "provider",
        "reference",
        "transaction",
        "at",
        "product",
        "subscriber",
        "amount",
        "token sealed",
        "decision",
        "account",
        "by",
        "reason",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.provider.clone(),
            self.reference.clone(),
            self.transaction.clone(),
            self.at.clone(),
            self.product.to_owned(),
            self.subscriber.clone(),
            self.amount.clone(),
            yes(self.has_token),
            or_dash(self.decision),
            or_dash(self.account.map(|account| account.to_string()).as_deref()),
            or_dash(self.decided_by.as_deref()),
            or_dash(self.decided_because.as_deref()),
        ]
    }
}
