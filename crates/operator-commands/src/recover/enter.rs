//! `vendctl recover enter`: what no wallet has paid for in a statement is entered, and each other line is reported with its cause.

use std::{collections::BTreeMap, path::PathBuf};

use back_office::Standing;
use clap::Args;
use money::{Currency, Money};
use reconciliation::{ListedLine, ListedToken, ListedVend};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{
    arguments::Why,
    care::Care,
    error::VendctlError,
    parse, provider,
    report::{Part, Report, Row, or_dash},
    session::Session,
    statement::{self, Lines, StatementFileError, StatementForm},
};

/// The lines that are reported with their cause. All are counted.
const TOLD: usize = 1_000;

/// Entering does not note what a statement says about open purchases. A reconciliation does, and then one person alone cannot release them.
const RECONCILE_OPEN: &str = "Some lines are about purchases that are still open. Reconcile the same file with `vendctl reconcile`, without \
     --dry-run: then two people decide if such a purchase is released.";

/// A statement, and the provider that wrote it.
#[derive(Debug, Args)]
pub(crate) struct StatementOf {
    /// The statement, a CSV file
    statement: PathBuf,
    /// The provider's code
    #[arg(long, value_name = "CODE", value_parser = parse::provider_code)]
    provider: String,
    #[command(flatten)]
    form: StatementForm,
}

/// What entering a statement does, or would do.
#[derive(Default, Serialize)]
struct Plan {
    listed: u64,
    /// Lines that become unmatched vends.
    unmatched: usize,
    /// Lines that become incidents.
    late: usize,
    /// The sum of both, for each currency.
    amounts: Vec<String>,
    entered: Vec<i64>,
    incidents: Vec<i64>,
    entered_before: usize,
    not_entered: Vec<NotEntered>,
    /// Lines about purchases of which it is not decided whether a wallet pays.
    #[serde(skip)]
    open: usize,
    #[serde(skip)]
    sums: BTreeMap<Currency, Money>,
}

/// A line that is not entered, and why.
#[derive(Serialize)]
struct NotEntered {
    line: i64,
    reference: String,
    why: String,
    purchase: Option<i64>,
}

impl StatementOf {
    pub(super) async fn enter(
        &self,
        session: &Session,
        care: Care,
        why: &Why,
    ) -> Result<Report, VendctlError> {
        // Of a provider that does not exist, every vend would be unmatched.
        provider::find(session, &self.provider).await?;
        let form = self.form.reading(session.zone());
        let mut seen = Seen::default();
        let checked = statement::check(&self.statement, form.clone(), |line| seen.add(line))?;
        checked.refuse_empty()?;
        if checked.has_tokens {
            if !session.can_seal {
                return Err(VendctlError::NoSealingKey);
            }
            session.store.refuse_another_key().await?;
        }
        let mut plan = Plan { listed: checked.lines, ..Plan::default() };
        let mut lines = Lines::open(&self.statement, form.clone())?;
        loop {
            let batch = lines.batch()?;
            if batch.is_empty() {
                break;
            }
            let standings = back_office::find_standings(
                session.database(),
                self.provider.clone(),
                batch.iter().map(|line| line.vend.clone()).collect(),
            );
            for (line, standing) in batch.iter().zip(standings.await?) {
                self.plan(&mut plan, &seen, line, standing)?;
            }
        }
        if lines.into_sha256() != checked.sha256 {
            return Err(StatementFileError::Changed.into());
        }
        plan.amounts = plan.sums.values().map(ToString::to_string).collect();
        if care.dry_run {
            let would =
                format!("This was a rehearsal. Nothing was entered. {}.", self.in_words(&plan, "would be"));
            return Ok(plan.report().noting(&would));
        }
        if plan.unmatched.saturating_add(plan.late) > 0 {
            care.ask(&format!("{}.", self.in_words(&plan, "is")))?;
            self.write(session, &mut plan, &seen, why).await?;
        }
        let note = if plan.incidents.is_empty() {
            "`vendctl recover list` shows what is to be decided."
        } else {
            "`vendctl recover list` and `vendctl incidents list` show what is to be decided."
        };
        let sees_open = plan.open > 0;
        Ok(plan.report().noting(note).noting_any(sees_open.then_some(RECONCILE_OPEN)))
    }

    /// Adds a line to the plan. A statement of another provider is refused whole.
    fn plan(
        &self,
        plan: &mut Plan,
        seen: &Seen,
        ListedLine { number, vend }: &ListedLine,
        standing: Standing,
    ) -> Result<(), VendctlError> {
        let first = seen.repeated.get(number).copied();
        let (why, purchase) = match standing {
            Standing::OfAnotherProvider { provider_code, purchase } => {
                return Err(VendctlError::StatementOfAnother {
                    line: *number,
                    reference: vend.provider_reference.clone(),
                    purchase: purchase.0,
                    of: provider_code,
                    provider: self.provider.clone(),
                });
            }
            Standing::Unknown | Standing::Late(_) if first.is_some() => {
                (format!("the same as line {}", first.unwrap_or_default()), None)
            }
            Standing::Unknown => {
                plan.unmatched = plan.unmatched.saturating_add(1);
                return plan.add(vend.net);
            }
            Standing::Late(_) => {
                plan.late = plan.late.saturating_add(1);
                return plan.add(vend.net);
            }
            Standing::Entered(id) => {
                plan.entered_before = plan.entered_before.saturating_add(1);
                (format!("entered before, as unmatched vend {id}"), None)
            }
            Standing::Open { purchase, state } => {
                plan.open = plan.open.saturating_add(1);
                let why = format!("known and open ({}): it is not decided whether a wallet pays", state.as_str());
                (why, Some(purchase))
            }
            Standing::Paid(purchase) => ("known and paid".to_owned(), Some(purchase)),
            Standing::PaidOtherwise(purchase) => {
                ("known, and paid under another transaction: ask the provider".to_owned(), Some(purchase))
            }
            Standing::Incident { purchase, incident } => {
                (format!("known and refunded, and owed as incident {incident}"), Some(purchase))
            }
            Standing::LateOtherwise(purchase) => (
                "known and refunded, but what was ordered is another amount, product or subscriber: ask the provider".to_owned(),
                Some(purchase),
            ),
            Standing::VendOfAnother { purchase, of } => (
                format!("known and refunded, but its transaction is that of purchase {}: ask the provider", of.0),
                Some(purchase),
            ),
        };
        if plan.not_entered.len() < TOLD {
            let reference = vend.provider_reference.clone();
            let purchase = purchase.map(|purchase| purchase.0);
            plan.not_entered.push(NotEntered { line: *number, reference, why, purchase });
        }
        Ok(())
    }

    async fn write(
        &self,
        session: &Session,
        plan: &mut Plan,
        seen: &Seen,
        why: &Why,
    ) -> Result<(), VendctlError> {
        let mut lines = Lines::open(&self.statement, self.form.reading(session.zone()))?;
        loop {
            let batch = lines.batch()?;
            if batch.is_empty() {
                return Ok(());
            }
            let batch: Vec<ListedVend> = batch
                .into_iter()
                .filter(|line| !seen.repeated.contains_key(&line.number))
                .map(|line| line.vend)
                .collect();
            let entered = back_office::enter_unmatched_vends(
                session.database(),
                session.store.sealing().clone(),
                self.provider.clone(),
                batch,
                session.act(why),
            );
            let entered = entered.await?;
            plan.entered.extend(entered.entered);
            plan.incidents.extend(entered.incidents);
        }
    }

    fn in_words(&self, plan: &Plan, verb: &str) -> String {
        let Plan { unmatched, late, amounts, .. } = plan;
        let amounts = if amounts.is_empty() { "Nothing".to_owned() } else { amounts.join(" and ") };
        format!(
            "{amounts} {verb} owed to {}: {unmatched} unmatched vends, and {late} vends of purchases that have failed, which become \
             incidents",
            self.provider
        )
    }
}

impl Plan {
    fn add(&mut self, net: Money) -> Result<(), VendctlError> {
        let sum = self.sums.get(&net.currency()).map_or(Ok(net), |sum| sum.plus(net))?;
        self.sums.insert(net.currency(), sum);
        Ok(())
    }

    fn report(&self) -> Report {
        let mut parts = Report::one(self).parts().to_vec();
        if !self.not_entered.is_empty() {
            parts.push(Part::Text("These lines are not entered:\n".to_owned()));
            parts.extend_from_slice(Report::list(&self.not_entered).parts());
        }
        Report::of(self, parts)
    }
}

/// The lines of a statement by what names a vend. Lines about one vend that have the same values are taken as one. Others are refused:
/// which of them is right?
#[derive(Default)]
struct Seen {
    /// The first line with each reference, and the digest of its values.
    references: BTreeMap<String, (i64, [u8; 32])>,
    transactions: BTreeMap<String, (i64, [u8; 32])>,
    /// The lines that repeat another one, and which.
    repeated: BTreeMap<i64, i64>,
}

impl Seen {
    fn add(&mut self, ListedLine { number, vend }: &ListedLine) -> Result<(), StatementFileError> {
        let values = digest(vend);
        let (reference, transaction) = (vend.provider_reference.clone(), vend.provider_transaction.clone());
        let seen = [
            ("reference", *self.references.entry(reference).or_insert((*number, values))),
            ("transaction", *self.transactions.entry(transaction).or_insert((*number, values))),
        ];
        for (column, (first, same)) in seen {
            if same != values {
                return Err(StatementFileError::Twice { first, second: *number, column });
            }
            if first != *number {
                self.repeated.insert(*number, first);
            }
        }
        Ok(())
    }
}

/// The digest of all that a line says.
fn digest(vend: &ListedVend) -> [u8; 32] {
    let values = [
        vend.provider_reference.clone(),
        vend.provider_transaction.clone(),
        vend.vended_at.to_rfc3339(),
        vend.product.as_str().to_owned(),
        vend.subscriber_identifier.clone(),
        vend.net.to_string(),
    ];
    // No value has a line feed in it.
    let digest = Sha256::new().chain_update(values.join("\n")).chain_update("\n");
    let digest = match &vend.token {
        ListedToken::Absent => digest,
        ListedToken::Tokens(tokens) => digest.chain_update(tokens.wire_form().as_bytes()),
        ListedToken::Digest(of_token) => digest.chain_update(of_token),
    };
    digest.finalize().into()
}

impl Row for Plan {
    const COLUMNS: &'static [&'static str] = &[
        "listed",
        "unmatched vends",
        "vends of failed purchases",
        "amount",
        "entered",
        "incidents",
        "entered before",
    ];

    fn cells(&self) -> Vec<String> {
        let numbers = |numbers: &[i64]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let or_none = |text: String| or_dash(Some(text.as_str()).filter(|text| !text.is_empty()));
        vec![
            self.listed.to_string(),
            self.unmatched.to_string(),
            self.late.to_string(),
            or_none(self.amounts.join(", ")),
            or_none(numbers(&self.entered)),
            or_none(numbers(&self.incidents)),
            self.entered_before.to_string(),
        ]
    }
}

impl Row for NotEntered {
    const COLUMNS: &'static [&'static str] = &["line", "reference", "purchase", "why"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.line.to_string(),
            self.reference.clone(),
            or_dash(self.purchase.map(|purchase| purchase.to_string()).as_deref()),
            self.why.clone(),
        ]
    }
}
