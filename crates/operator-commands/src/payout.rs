//! Payouts: to a provider (`vendctl provider pay`), of fees (`vendctl fees`), of commission (`vendctl commission`), and their reversal.

use back_office::{Movement, PaidOut, Payee, Payout, PayoutReversal, RequestSubject};
use clap::{Args, Subcommand};
use identity::Environment;
use ledger::AccountId;
use money::Money;
use serde::Serialize;

use crate::{
    approvals,
    arguments::Why,
    care::Care,
    error::VendctlError,
    parse::{self, Amount},
    provider,
    report::{Report, Row, instant, or_dash},
    session::Session,
    wallet::{Named, POSTED_BEFORE, REHEARSED},
};

/// `vendctl fees`.
#[derive(Debug, Subcommand)]
pub(crate) enum FeesVerb {
    /// Record that fees were taken out, to the operator's own account; never more than were earned
    #[command(
        after_help = "Example:\n  vendctl fees settle 12000.00 --currency BWP --id BANK-20261130-2 --reason \"fees of November\""
    )]
    Settle {
        /// How much, such as 12000.00
        #[arg(value_parser = parse::amount)]
        amount: Amount,
        #[command(flatten)]
        named: Named,
    },
    /// Undo one settlement of fees, once, by the number of its journal entry
    #[command(after_help = "Example:\n  vendctl fees reverse 4711 --reason \"a zero too many\"")]
    Reverse(ReversePayout),
}

/// `vendctl commission`.
#[derive(Debug, Subcommand)]
pub(crate) enum CommissionVerb {
    /// Record that commission was paid out of its wallet to the integrator; never more than can be spent
    #[command(
        after_help = "A payout is undone by `vendctl wallet reverse`.\n\nExample:\n  vendctl commission pay 18 250.00 --currency BWP \
                      --id BANK-20261130-3 --reason \"commission of November\""
    )]
    Pay {
        /// The number of the account that collects commission
        account: i64,
        /// How much, such as 250.00
        #[arg(value_parser = parse::amount)]
        amount: Amount,
        #[command(flatten)]
        named: Named,
    },
}

/// `vendctl provider pay`.
#[derive(Debug, Args)]
pub(crate) struct PayProvider {
    /// Its code
    #[arg(value_parser = parse::provider_code)]
    code: String,
    /// How much, such as 1000000.00
    #[arg(value_parser = parse::amount)]
    amount: Amount,
    #[command(flatten)]
    named: Named,
}

/// The payout that is undone.
#[derive(Debug, Args)]
pub(crate) struct ReversePayout {
    /// The number of the entry, as the payout showed it
    entry: i64,
    #[command(flatten)]
    care: Care,
    #[command(flatten)]
    why: Why,
}

#[derive(Serialize)]
struct PayoutView {
    entry: Option<i64>,
    provider: Option<String>,
    reference: Option<String>,
    reverses: Option<i64>,
    amount: String,
    posted_at: Option<String>,
    posted_before: bool,
    left: String,
}

pub(crate) async fn fees(session: &Session, verb: &FeesVerb) -> Result<Report, VendctlError> {
    match verb {
        FeesVerb::Settle { amount, named } => pay(session, named, Payee::Operator, *amount).await,
        FeesVerb::Reverse(reverse) => reverse.run(session).await,
    }
}

pub(crate) async fn commission(session: &Session, verb: &CommissionVerb) -> Result<Report, VendctlError> {
    match verb {
        CommissionVerb::Pay { account, amount, named } => {
            let report = named.pay(session, AccountId(*account), Movement::PayOut, *amount).await?;
            Ok(report.noting_any(is_of_staging(session, *account).await?.then_some(NOT_REAL)))
        }
    }
}

/// Commission of tests is booked beside the funding of tests.
const NOT_REAL: &str = "The wallet is of an organisation in staging. Its commission is not real: nothing should leave the bank for it.";

async fn is_of_staging(session: &Session, account: i64) -> Result<bool, VendctlError> {
    let owner = session.owner_of(&session.account(account).await?).await?;
    Ok(owner.is_some_and(|organisation| organisation.environment == Environment::Staging))
}

impl PayProvider {
    pub(crate) async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        let code = provider::find(session, &self.code).await?.code;
        pay(session, &self.named, Payee::Provider(code), self.amount).await
    }
}

/// Rehearses it first, so that a person is asked about what will happen.
async fn pay(session: &Session, named: &Named, payee: Payee, amount: Amount) -> Result<Report, VendctlError> {
    let amount = amount.of(named.currency);
    session.check_ceiling(amount)?;
    let payout = Payout { payee, amount, reference: named.reference(session).await? };
    let pay = |is_rehearsal| {
        back_office::pay_out(session.database(), payout.clone(), is_rehearsal, session.act(&named.why))
    };
    let foreseen = named.or_reversed(session, pay(true).await).await?;
    if !foreseen.was_there {
        // A request for a payment under the same id waits.
        let about = RequestSubject::Payment(payout.reference.clone());
        approvals::refuse_past_another(session, about, None).await?;
    }
    if named.care.dry_run || foreseen.was_there {
        let note = named.note(session, &payout.reference, foreseen.was_there).await?;
        return Ok(Report::one(&PayoutView::of(&payout, &foreseen)).noting(&note));
    }
    named.care.ask(&format!("{amount} is paid to {}; {}", name(&payout.payee), rest(foreseen.left)))?;
    let paid = pay(false).await?;
    let report = Report::one(&PayoutView::of(&payout, &paid));
    Ok(report.noting_any(paid.was_there.then_some(POSTED_BEFORE)))
}

impl PayoutView {
    fn of(payout: &Payout, paid: &PaidOut) -> Self {
        let (entry, posted_at) = paid.posted.unzip();
        Self {
            entry,
            provider: provider_of(&payout.payee),
            reference: Some(payout.reference.clone()),
            reverses: None,
            amount: payout.amount.to_string(),
            posted_at: posted_at.map(instant),
            posted_before: paid.was_there,
            left: paid.left.to_string(),
        }
    }
}

impl ReversePayout {
    pub(crate) async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        let undo = |is_rehearsal| {
            back_office::reverse_payout(session.database(), self.entry, is_rehearsal, session.act(&self.why))
        };
        let foreseen = undo(true).await?;
        session.check_ceiling(foreseen.amount)?;
        if self.care.dry_run {
            return Ok(Report::one(&self.view(&foreseen)).noting(REHEARSED));
        }
        let (amount, payee) = (foreseen.amount, name(&foreseen.payee));
        self.care.ask(&format!("The payment of {amount} to {payee} is undone; {}", rest(foreseen.left)))?;
        Ok(Report::one(&self.view(&undo(false).await?)))
    }

    fn view(&self, reversal: &PayoutReversal) -> PayoutView {
        let (entry, posted_at) = reversal.posted.unzip();
        PayoutView {
            entry,
            provider: provider_of(&reversal.payee),
            reference: None,
            reverses: Some(self.entry),
            amount: reversal.amount.to_string(),
            posted_at: posted_at.map(instant),
            posted_before: false,
            left: reversal.left.to_string(),
        }
    }
}

fn provider_of(payee: &Payee) -> Option<String> {
    match payee {
        Payee::Provider(code) => Some(code.clone()),
        Payee::Operator => None,
    }
}

fn name(payee: &Payee) -> &str {
    match payee {
        Payee::Provider(code) => code,
        Payee::Operator => "the operator, out of fees",
    }
}

/// What is owed afterwards, as a sentence.
fn rest(left: Money) -> String {
    if left.minor() < 0 {
        return format!("then {} is paid in advance.", Money::from_minor(-left.minor(), left.currency()));
    }
    format!("then {left} is owed.")
}

impl Row for PayoutView {
    const COLUMNS: &'static [&'static str] =
        &["entry", "provider", "reference", "reverses", "amount", "posted at", "left"];
    const MOMENTS: &'static [&'static str] = &["posted at"];

    fn cells(&self) -> Vec<String> {
        vec![
            or_dash(self.entry.map(|entry| entry.to_string()).as_deref()),
            or_dash(self.provider.as_deref()),
            or_dash(self.reference.as_deref()),
            or_dash(self.reverses.map(|entry| entry.to_string()).as_deref()),
            self.amount.clone(),
            or_dash(self.posted_at.as_deref()),
            self.left.clone(),
        ]
    }
}
