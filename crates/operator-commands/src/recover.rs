//! `vendctl recover`: enters the vends that only a provider has, for example after a restore to a moment, and decides them.

mod enter;

use std::collections::BTreeSet;

use back_office::{ActKind, NewRequest, UnmatchedVendRecord, VendDecision};
use clap::Subcommand;
use ledger::AccountId;
use serde::Serialize;
use serde_json::json;

use enter::StatementOf;

use crate::{
    approvals,
    arguments::Why,
    care::Care,
    error::VendctlError,
    report::{Report, Row, instant, or_dash, yes},
    session::Session,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Enter the vends of a statement that no wallet has paid for: they are owed to the provider from now on
    #[command(
        after_help = "A vend that no purchase asked for becomes an unmatched vend, one of a purchase that has failed an incident. \
                      Entering a statement again enters nothing twice. `vendctl reconcile --help` has the columns of the \
                      file.\n\nExample:\n  vendctl recover enter \
                      bpc.csv --provider BPC --reason \"restored to 09:30 after INC-12\""
    )]
    Enter {
        #[command(flatten)]
        of: StatementOf,
        #[command(flatten)]
        care: Care,
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
        care: Care,
        #[command(flatten)]
        why: Why,
    },
    /// Waive unmatched vends: no wallet pays for them, and we owe them to the provider
    #[command(
        after_help = "Example:\n  vendctl recover waive 5 6 --reason \"no integrator has sold them; disputed with BPC\""
    )]
    Waive {
        /// Their numbers
        #[arg(required = true, num_args = 1..=1000)]
        vends: Vec<i64>,
        #[command(flatten)]
        care: Care,
        #[command(flatten)]
        why: Why,
    },
    /// Withdraw unmatched vends that the provider never vended, or that were entered by mistake: we do not owe them any more
    #[command(
        after_help = "Those that were waived can be withdrawn too, and those that a wallet was charged for cannot. They stay in \
                      the list, so the same statement does not enter them again.\n\nExample:\n  vendctl recover withdraw 5 6 \
                      --reason \"BPC's mail of 2 May: their list was wrong\""
    )]
    Withdraw {
        /// Their numbers
        #[arg(required = true, num_args = 1..=1000)]
        vends: Vec<i64>,
        #[command(flatten)]
        care: Care,
        #[command(flatten)]
        why: Why,
    },
}

/// What a decision would do.
#[derive(Serialize)]
struct Rehearsed {
    vends: Vec<i64>,
    amount: String,
    needs_approval: bool,
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
        Verb::Enter { of, care, why } => of.enter(session, *care, why).await,
        Verb::List { all, limit, after } => {
            let found = back_office::list_unmatched_vends(session.database(), *all, *after, *limit).await?;
            Ok(Report::list(&found.into_iter().map(View::from).collect::<Vec<_>>()))
        }
        Verb::Charge { vends, account, care, why } => {
            decide(session, vends, VendDecision::Charge(AccountId(*account)), *care, why).await
        }
        Verb::Waive { vends, care, why } => decide(session, vends, VendDecision::Waive, *care, why).await,
        Verb::Withdraw { vends, care, why } => {
            decide(session, vends, VendDecision::Withdraw, *care, why).await
        }
    }
}

async fn decide(
    session: &Session,
    vends: &[i64],
    decision: VendDecision,
    care: Care,
    why: &Why,
) -> Result<Report, VendctlError> {
    let database = session.database();
    let sum = back_office::rehearse_unmatched_vends(database, vends.to_vec(), decision).await?;
    let needs_approval = match decision {
        VendDecision::Charge(_) => {
            back_office::needs_approval(database, ActKind::Charge, sum.minor()).await?
        }
        VendDecision::Waive | VendDecision::Withdraw => false,
    };
    let done = match decision {
        VendDecision::Charge(wallet) => {
            format!("{sum} is taken out of wallet {}", session.named_wallet(wallet.0).await?)
        }
        VendDecision::Waive => format!("{sum} stays in suspense, and is owed to the provider"),
        VendDecision::Withdraw => format!("{sum} is not owed to the provider any more"),
    };
    if care.dry_run {
        let asks = if needs_approval { format!(" {}", approvals::WOULD_ASK) } else { String::new() };
        let text = format!("This was a rehearsal. Nothing was decided. {done}.{asks}\n");
        let data = Rehearsed { vends: vends.to_vec(), amount: sum.to_string(), needs_approval };
        return Ok(Report::text_and_data(&data, text));
    }
    if let (true, VendDecision::Charge(wallet)) = (needs_approval, decision) {
        let arguments = json!({
            "vends": vends.iter().collect::<BTreeSet<_>>(),
            "wallet": wallet.0,
            "minor": sum.minor(),
            "currency": sum.currency().as_str(),
            "amount": sum.to_string(),
        });
        let request = NewRequest { kind: ActKind::Charge, arguments, token: None };
        return approvals::request(session, request, session.act(why)).await;
    }
    care.ask(&format!("{done}. Each vend is decided once."))?;
    back_office::decide_unmatched_vends(session.database(), vends.to_vec(), decision, session.act(why))
        .await?;
    let open = back_office::list_unmatched_vends(session.database(), false, 0, 1000).await?;
    let views: Vec<View> = open.into_iter().map(View::from).collect();
    Ok(Report::list(&views).noting(&format!("{} decided. Above are those that are not.", vends.len())))
}

impl From<UnmatchedVendRecord> for View {
    fn from(record: UnmatchedVendRecord) -> Self {
        let account = record.charged.map(|account| account.0);
        let decision = match (&record.decided, account, record.is_withdrawn) {
            (None, _, _) => None,
            (Some(_), Some(_), _) => Some("charged"),
            (Some(_), None, false) => Some("waived"),
            (Some(_), None, true) => Some("withdrawn"),
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
    const MOMENTS: &'static [&'static str] = &["at"];

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
