//! `vendctl wallet`: payments into a wallet, corrections and reversals, posted in the ledger, and the statement of postings.

use back_office::{
    ActKind, Movement, NewRequest, Payment, PaymentError, PaymentRefusal, Posted, ReferredEntry,
    RequestSubject, Reversal,
};
use clap::{Args, Subcommand};
use ledger::{AccountId, SystemAccount};
use money::{Currency, Money};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    approvals,
    arguments::Why,
    care::Care,
    error::VendctlError,
    parse::{self, Amount},
    report::{Report, Row, instant, or_dash},
    requests::about::others_about_wallet,
    session::Session,
    wallet_statement::StatementOf,
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
    /// Undo one payment or correction, once, by the number of its journal entry
    #[command(
        after_help = "The same amount goes back between the same accounts, as a correction of its own. What is held for open \
                      purchases cannot be taken back. A reversal is not reversed: enter the payment again.\n\nExamples:\n  \
                      vendctl wallet reverse 4711 --dry-run --reason \"a zero too many\"\n  vendctl wallet reverse 4711 \
                      --reason \"a zero too many\""
    )]
    Reverse {
        /// The number of the entry, as the statement shows it
        entry: i64,
        #[command(flatten)]
        care: Care,
        #[command(flatten)]
        why: Why,
    },
    /// Show the postings of a wallet, the newest first
    #[command(
        after_help = "Moments are in the time zone of the settings, unless they have an offset.\n\nExamples:\n  vendctl wallet statement \
                      17\n  vendctl wallet statement 17 --before 4711 --limit 200\n  vendctl wallet statement 17 --date \
                      yesterday --all --csv\n  vendctl wallet statement 17 --since 2026-11-20 --until \"2026-11-20 14:00\""
    )]
    Statement(StatementOf),
}

/// The arguments of every payment and payout, besides its amount.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// The currency of the amount; a wallet takes only its own
    #[arg(long, value_name = "CCY", value_parser = parse::currency)]
    pub(crate) currency: Currency,
    /// Your own id of the payment, such as the bank's reference: each id is posted once
    ///
    /// If you enter the same command again, it posts nothing and says so. Another payment under the same id is refused.
    #[arg(long, value_name = "REFERENCE", value_parser = parse::reference)]
    pub(crate) id: String,
    /// The payment under this id was reversed: post one under it once more, recorded as the id and (2)
    #[arg(long)]
    pub(crate) again: bool,
    #[command(flatten)]
    pub(crate) care: Care,
    #[command(flatten)]
    pub(crate) why: Why,
}

#[derive(Serialize)]
struct PaidView {
    entry: Option<i64>,
    account: i64,
    reference: String,
    amount: String,
    posted_at: Option<String>,
    posted_before: bool,
    balance: String,
    available: String,
}

#[derive(Serialize)]
struct ReversalView {
    entry: Option<i64>,
    reverses: i64,
    account: i64,
    amount: String,
    posted_at: Option<String>,
    balance: String,
    available: String,
}

pub(crate) const POSTED_BEFORE: &str = "This payment had already been posted. Nothing was posted now.";
pub(crate) const REHEARSED: &str = "This was a rehearsal. Nothing was posted.";

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::TopUp { account, amount, named } => {
            named.pay(session, AccountId(*account), Movement::TopUp, *amount).await
        }
        Verb::Adjust { account, direction, amount, against, named } => {
            let movement = match direction {
                Direction::Up => Movement::AdjustUp(*against),
                Direction::Down => Movement::AdjustDown(*against),
            };
            named.pay(session, AccountId(*account), movement, *amount).await
        }
        Verb::Reverse { entry, care, why } => reverse(session, *entry, *care, why).await,
        Verb::Statement(statement) => statement.run(session).await,
    }
}

impl Named {
    pub(crate) async fn pay(
        &self,
        session: &Session,
        wallet: AccountId,
        movement: Movement,
        amount: Amount,
    ) -> Result<Report, VendctlError> {
        let amount = amount.of(self.currency);
        session.check_ceiling(amount)?;
        let (account, reference) = (wallet.0, self.reference(session).await?);
        let payment = Payment { wallet, movement, amount, reference: Some(reference.clone()) };
        let foreseen = back_office::rehearse_payment(session.database(), payment.clone()).await;
        let foreseen = self.or_reversed(session, foreseen).await?;
        let kind = if movement == Movement::TopUp { ActKind::TopUp } else { ActKind::Adjust };
        let needs_approval = back_office::needs_approval(session.database(), kind, amount.minor()).await?;
        let request =
            needs_approval.then(|| NewRequest { kind, arguments: arguments(&payment), token: None });
        if foreseen.posted_before.is_none() {
            let about = RequestSubject::Payment(reference.clone());
            approvals::refuse_past_another(session, about, request.as_ref()).await?;
        }
        if self.care.dry_run || foreseen.posted_before.is_some() {
            let would_ask = needs_approval && foreseen.posted_before.is_none();
            let (entry, posted_at) = foreseen.posted_before.unzip();
            let note = self.note(session, &reference, entry.is_some()).await?;
            let left = (foreseen.balance, foreseen.available);
            let view = view(reference, account, signed(movement, amount), entry.zip(posted_at), left);
            let wallet = format!("It is wallet {}.", session.named_wallet(account).await?);
            let others = others_about_wallet(session, account, None).await?;
            let report = Report::one(&view).noting(&wallet).noting_any(others.as_deref()).noting(&note);
            return Ok(report.noting_any(would_ask.then_some(approvals::WOULD_ASK)));
        }
        if let Some(request) = request {
            return approvals::request(session, request, session.act(&self.why)).await;
        }
        let (verb, left) = (if movement.takes() { "taken out of" } else { "put into" }, foreseen.available);
        if self.care.asks() {
            let named = session.named_wallet(account).await?;
            let others = others_about_wallet(session, account, None).await?;
            let others = others.map(|others| format!("\n{others}")).unwrap_or_default();
            self.care.ask(&format!(
                "{amount} is {verb} wallet {named}; {left} can be spent afterwards.{others}"
            ))?;
        }
        let paid = back_office::pay(session.database(), payment, session.act(&self.why)).await?;
        let posted = Some((paid.entry, paid.posted_at));
        let left = (paid.balance, paid.available);
        let view = view(reference, account, signed(movement, amount), posted, left);
        let report = Report::one(&PaidView { posted_before: paid.was_there, ..view });
        Ok(report.noting_any(paid.was_there.then_some(POSTED_BEFORE)))
    }

    /// The reference under which it is posted: the id, or once more the id of a payment that was reversed.
    pub(crate) async fn reference(&self, session: &Session) -> Result<String, VendctlError> {
        if !self.again {
            return Ok(self.id.clone());
        }
        let before = back_office::find_referred(session.database(), self.id.clone()).await?;
        match before {
            Some(ReferredEntry { reversed_by: Some(_), .. }) => {
                parse::reference(&format!("{}(2)", self.id)).map_err(|_too_long| VendctlError::LongId)
            }
            Some(ReferredEntry { entry, reversed_by: None }) => Err(VendctlError::NotReversed(entry)),
            None => Err(VendctlError::NeverPosted(self.id.clone())),
        }
    }

    /// The refusal of another payment under the id says so if that one was reversed.
    pub(crate) async fn or_reversed<T>(
        &self,
        session: &Session,
        outcome: Result<T, PaymentError>,
    ) -> Result<T, VendctlError> {
        let Err(PaymentError::Refused(PaymentRefusal::ReferenceTaken { reference, entry })) = &outcome else {
            return Ok(outcome?);
        };
        let taken = back_office::find_referred(session.database(), reference.clone()).await?;
        match taken.and_then(|taken| taken.reversed_by) {
            Some(by) if !self.again => {
                Err(VendctlError::ReversedId { id: reference.clone(), entry: *entry, by })
            }
            Some(_) | None => Ok(outcome?),
        }
    }

    /// What is said when nothing is posted: it was before, and perhaps reversed since, or this is a rehearsal.
    pub(crate) async fn note(
        &self,
        session: &Session,
        reference: &str,
        was_there: bool,
    ) -> Result<String, VendctlError> {
        if !was_there {
            return Ok(REHEARSED.to_owned());
        }
        let found = back_office::find_referred(session.database(), reference.to_owned()).await?;
        Ok(match (found.and_then(|found| found.reversed_by), self.again) {
            (None, _) => POSTED_BEFORE.to_owned(),
            (Some(by), false) => {
                format!("{POSTED_BEFORE} It was reversed by entry {by}: --again posts it once more.")
            }
            (Some(by), true) => {
                format!("{POSTED_BEFORE} It was reversed by entry {by}; choose another --id.")
            }
        })
    }
}

/// As the statement shows it: a correction downwards has a minus sign. A payout is shown as what is paid.
fn signed(movement: Movement, amount: Money) -> Money {
    match movement {
        Movement::AdjustDown(_) => Money::from_minor(-amount.minor(), amount.currency()),
        Movement::TopUp | Movement::AdjustUp(_) | Movement::PayOut => amount,
    }
}

fn view(
    reference: String,
    account: i64,
    amount: Money,
    posted: Option<Posted>,
    (balance, available): (Money, Money),
) -> PaidView {
    let (entry, posted_at) = posted.unzip();
    PaidView {
        entry,
        account,
        reference,
        amount: amount.to_string(),
        posted_at: posted_at.map(instant),
        posted_before: entry.is_some(),
        balance: balance.to_string(),
        available: available.to_string(),
    }
}

/// What the database is to post when the payment is approved.
fn arguments(payment: &Payment) -> Value {
    json!({
        "wallet": payment.wallet.0,
        "against": payment.movement.system_account().as_str(),
        "takes": payment.movement.takes(),
        "pays_out": payment.movement == Movement::PayOut,
        "minor": payment.amount.minor(),
        "currency": payment.amount.currency().as_str(),
        "amount": payment.amount.to_string(),
        "reference": payment.reference,
    })
}

/// Rehearses it first, so that a person is asked about what will happen.
async fn reverse(session: &Session, entry: i64, care: Care, why: &Why) -> Result<Report, VendctlError> {
    let undo = |is_rehearsal| {
        back_office::reverse_payment(session.database(), entry, is_rehearsal, session.act(why))
    };
    let foreseen = undo(true).await?;
    session.check_ceiling(foreseen.amount)?;
    let (wallet, amount, left) = (foreseen.wallet.0, foreseen.amount, foreseen.available);
    let minor = amount.minor().saturating_abs();
    let needs_approval = back_office::needs_approval(session.database(), ActKind::Reverse, minor).await?;
    let request = needs_approval.then(|| {
        let takes = amount.minor() < 0;
        let arguments =
            json!({ "entry": entry, "wallet": wallet, "amount": amount.to_string(), "minor": minor, "takes": takes });
        NewRequest { kind: ActKind::Reverse, arguments, token: None }
    });
    approvals::refuse_past_another(session, RequestSubject::Entry(entry), request.as_ref()).await?;
    let owner = session.named_wallet(wallet).await?;
    let consequence = format!(
        "Entry {entry} is undone: {amount} is posted to wallet {owner}; {left} can be spent afterwards."
    );
    let others = if care.foretells() { others_about_wallet(session, wallet, None).await? } else { None };
    if care.dry_run {
        let report = Report::one(&ReversalView::of(entry, &foreseen)).noting(&consequence);
        let report = report.noting_any(others.as_deref()).noting(REHEARSED);
        return Ok(report.noting_any(needs_approval.then_some(approvals::WOULD_ASK)));
    }
    if let Some(request) = request {
        return approvals::request(session, request, session.act(why)).await;
    }
    care.ask(&[Some(consequence), others].into_iter().flatten().collect::<Vec<_>>().join("\n"))?;
    Ok(Report::one(&ReversalView::of(entry, &undo(false).await?)))
}

impl ReversalView {
    fn of(reverses: i64, reversal: &Reversal) -> Self {
        let (entry, posted_at) = reversal.posted.unzip();
        Self {
            entry,
            reverses,
            account: reversal.wallet.0,
            amount: reversal.amount.to_string(),
            posted_at: posted_at.map(instant),
            balance: reversal.balance.to_string(),
            available: reversal.available.to_string(),
        }
    }
}

impl Row for ReversalView {
    const COLUMNS: &'static [&'static str] =
        &["entry", "reverses", "account", "amount", "posted at", "balance", "available"];
    const MOMENTS: &'static [&'static str] = &["posted at"];

    fn cells(&self) -> Vec<String> {
        vec![
            or_dash(self.entry.map(|entry| entry.to_string()).as_deref()),
            self.reverses.to_string(),
            self.account.to_string(),
            self.amount.clone(),
            or_dash(self.posted_at.as_deref()),
            self.balance.clone(),
            self.available.clone(),
        ]
    }
}

impl Row for PaidView {
    const COLUMNS: &'static [&'static str] =
        &["entry", "account", "reference", "amount", "posted at", "balance", "available"];
    const MOMENTS: &'static [&'static str] = &["posted at"];

    fn cells(&self) -> Vec<String> {
        vec![
            or_dash(self.entry.map(|entry| entry.to_string()).as_deref()),
            self.account.to_string(),
            self.reference.clone(),
            self.amount.clone(),
            or_dash(self.posted_at.as_deref()),
            self.balance.clone(),
            self.available.clone(),
        ]
    }
}
