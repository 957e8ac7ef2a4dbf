//! Purchases that have ended, checked one by one: what their settlement moved, by the ledger's own rules, and what
//! evidence there is for their end, by the keys that seal a provider's replies.

use std::collections::BTreeMap;

use catalogue::read_currency;
use database::{DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    pg::Pg,
    sql_types::{Array, BigInt, Bool, Bytea, Integer, Nullable, Text},
};
use ledger::{AccountId, JournalEntry, LedgerError, Settlement, SettlementAccounts};
use money::Money;
use purchase::{EventKind, StateName};
use store::{Aad, Sealed, SealingKeys, TOKEN_COLUMN};

use super::{Broken, Invariant, Violation, history::Stretches};

/// The number of purchases that are read at a time.
const PAGE: i64 = 2_000;

struct ReadSettlements;

impl Statement for ReadSettlements {
    const SQL: &str = include_str!("read_settlements.sql");
}

struct ReadUntold;

impl Statement for ReadUntold {
    const SQL: &str = include_str!("read_untold.sql");
}

struct ReadEvidence;

impl Statement for ReadEvidence {
    const SQL: &str = include_str!("read_evidence.sql");
}

/// A row of a page that is checked.
trait Examined {
    fn id(&self) -> i64;
}

#[derive(QueryableByName)]
struct SettlementRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    account_id: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    commission_account_id: Option<i64>,
    #[diesel(sql_type = BigInt)]
    net: i64,
    #[diesel(sql_type = BigInt)]
    charge: i64,
    #[diesel(sql_type = BigInt)]
    commission: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    entry_id: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    payable: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    income: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    expense: Option<i64>,
    #[diesel(sql_type = Array<BigInt>)]
    debits: Vec<i64>,
    #[diesel(sql_type = Array<BigInt>)]
    credits: Vec<i64>,
    #[diesel(sql_type = Array<BigInt>)]
    amounts: Vec<i64>,
    #[diesel(sql_type = Bool)]
    is_of_one_currency: bool,
}

#[derive(QueryableByName)]
struct EvidenceRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    state: String,
    /// The event that ended it, according to its history.
    #[diesel(sql_type = Nullable<Text>)]
    fact: Option<String>,
    /// Whether its history is in an archive and no longer here.
    #[diesel(sql_type = Bool)]
    is_archived: bool,
    /// Whether its replies are no longer here.
    #[diesel(sql_type = Bool)]
    is_erased: bool,
    #[diesel(sql_type = Nullable<Integer>)]
    token_key_id: Option<i32>,
    #[diesel(sql_type = Nullable<Bytea>)]
    sealed_token: Option<Vec<u8>>,
    #[diesel(sql_type = Nullable<Integer>)]
    reply_key_id: Option<i32>,
    #[diesel(sql_type = Nullable<Bytea>)]
    sealed_reply: Option<Vec<u8>>,
    #[diesel(sql_type = Bool)]
    has_attempt: bool,
    #[diesel(sql_type = Bool)]
    has_deed: bool,
}

/// A purchase whose end the feed does not tell as it is.
#[derive(QueryableByName)]
struct UntoldRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    finding: String,
}

/// Checks the purchases of these stretches.
pub(super) async fn look(
    transaction: &Transaction,
    stretches: Stretches,
    sealing: &SealingKeys,
    broken: &mut Broken,
) -> Result<(), DatabaseError> {
    let suspects = broken.suspects(Invariant::SuccessesArePaid);
    let paid = |row: &SettlementRow| row.fault();
    let unpaid = walk::<ReadSettlements, _>(transaction, stretches, suspects, paid).await?;
    broken.replace(Invariant::SuccessesArePaid, violations(Invariant::SuccessesArePaid, unpaid));
    let suspects = broken.suspects(Invariant::EndsHaveEvidence);
    let shown = |row: &EvidenceRow| Ok(row.fault(sealing).map(str::to_owned));
    let unproven = walk::<ReadEvidence, _>(transaction, stretches, suspects, shown).await?;
    broken.replace(Invariant::EndsHaveEvidence, violations(Invariant::EndsHaveEvidence, unproven));
    let suspects = broken.suspects(Invariant::EndsAreTold);
    let told = |row: &UntoldRow| Ok(Some(row.finding.clone()));
    let untold = walk::<ReadUntold, _>(transaction, stretches, suspects, told).await?;
    broken.replace(Invariant::EndsAreTold, violations(Invariant::EndsAreTold, untold));
    Ok(())
}

/// Reads page after page, so that memory holds only one page and the findings.
async fn walk<S, R>(
    transaction: &Transaction,
    stretches: Stretches,
    suspects: Vec<i64>,
    fault: impl Fn(&R) -> Result<Option<String>, DatabaseError>,
) -> Result<BTreeMap<i64, String>, DatabaseError>
where
    S: Statement,
    R: Examined + QueryableByName<Pg> + Send + 'static,
{
    let (mut found, mut suspects) = (BTreeMap::new(), suspects);
    for (after, until) in [stretches.new, stretches.old].into_iter().flat_map(pages) {
        let page: Vec<R> = prepared::<S>()
            .bind::<BigInt, _>(after)
            .bind::<BigInt, _>(until)
            .bind::<Array<BigInt>, _>(std::mem::take(&mut suspects))
            .load(transaction)
            .await?;
        for row in &page {
            if let Some(finding) = fault(row)? {
                found.insert(row.id(), finding);
            }
        }
    }
    Ok(found)
}

/// Splits a stretch into pages.
fn pages((after, until): (i64, i64)) -> impl Iterator<Item = (i64, i64)> {
    let begin = move |from: &i64| Some(from.saturating_add(PAGE)).filter(|next| *next < until);
    std::iter::successors(Some(after), begin).map(move |from| (from, from.saturating_add(PAGE).min(until)))
}

fn violations(invariant: Invariant, found: BTreeMap<i64, String>) -> BTreeMap<i64, Violation> {
    let violation = |(id, finding): (i64, String)| {
        (id, Violation { invariant, subject: format!("purchase:{id}"), finding })
    };
    found.into_iter().map(violation).collect()
}

impl Examined for SettlementRow {
    fn id(&self) -> i64 {
        self.id
    }
}

impl Examined for EvidenceRow {
    fn id(&self) -> i64 {
        self.id
    }
}

impl Examined for UntoldRow {
    fn id(&self) -> i64 {
        self.id
    }
}

impl SettlementRow {
    /// What is wrong with its settlement. The opposite error is impossible: an index allows one settlement per
    /// purchase, so no purchase is paid twice.
    fn fault(&self) -> Result<Option<String>, DatabaseError> {
        let Some(entry) = self.entry_id else {
            return Ok(Some("it is successful, and no entry settles it".to_owned()));
        };
        let expected = self.expected()?.map(|journal| moves_of(&journal));
        let mut found: Vec<(i64, i64, i64)> = self
            .debits
            .iter()
            .zip(&self.credits)
            .zip(&self.amounts)
            .map(|((d, c), a)| (*d, *c, *a))
            .collect();
        found.sort_unstable();
        let is_right = self.is_of_one_currency && expected.as_ref() == Ok(&found);
        Ok((!is_right).then(|| {
            format!(
                "entry {entry} moves {}, and should move {}",
                in_words(&found),
                in_words(&expected.unwrap_or_default())
            )
        }))
    }

    /// The entry that its amounts require.
    fn expected(&self) -> Result<Result<JournalEntry, LedgerError>, DatabaseError> {
        let currency = read_currency("purchases", self.id, &self.currency)?;
        let [net, charge, commission] =
            [self.net, self.charge, self.commission].map(|minor| Money::from_minor(minor, currency));
        let system_account = |id: Option<i64>| {
            id.map(AccountId).ok_or_else(|| DatabaseError::corrupt("accounts", "house", currency))
        };
        let accounts = SettlementAccounts {
            wallet: AccountId(self.account_id),
            // Without commission there is no posting to this account, and without an account there is no commission.
            commission: AccountId(self.commission_account_id.unwrap_or(self.account_id)),
            provider_payable: system_account(self.payable)?,
            fee_income: system_account(self.income)?,
            commission_expense: system_account(self.expense)?,
        };
        Ok(Settlement { net, charge, commission }.entry(&accounts))
    }
}

/// Debit, credit and amount of each move, in ascending order.
fn moves_of(journal: &JournalEntry) -> Vec<(i64, i64, i64)> {
    let moves = journal.postings().iter();
    let mut moves: Vec<_> =
        moves.map(|posting| (posting.debit().0, posting.credit().0, posting.amount().minor())).collect();
    moves.sort_unstable();
    moves
}

fn in_words(moves: &[(i64, i64, i64)]) -> String {
    if moves.is_empty() {
        return "nothing".to_owned();
    }
    let words = moves.iter().map(|(debit, credit, minor)| format!("{minor} from {debit} to {credit}"));
    words.collect::<Vec<_>>().join(", ")
}

impl EvidenceRow {
    /// What is missing of the evidence for its end.
    fn fault(&self, sealing: &SealingKeys) -> Option<&'static str> {
        let by_a_person = [EventKind::OperatorVended, EventKind::OperatorNotVended];
        if self.is_archived {
            let is_known = self.state != StateName::Successful.as_str() || self.has_attempt;
            return (!is_known).then_some("it is successful, and no attempt of that name is on record");
        }
        let Some(fact) = self.fact.as_deref() else { return Some("its history does not tell of its end") };
        let is_operator_action = by_a_person.iter().any(|kind| kind.as_str() == fact);
        if is_operator_action && !self.has_deed {
            return Some("a person decided it, and no line of the audit log says who");
        }
        if self.state != StateName::Successful.as_str() {
            return None;
        }
        if !self.has_attempt {
            return Some("it is successful, and no attempt of that name is on record");
        }
        if !is_operator_action && fact != EventKind::Vended.as_str() {
            return Some("it is successful, and its history does not tell of a vend");
        }
        if self.is_erased || self.opens(sealing) || is_operator_action && self.sealed_token.is_none() {
            return None;
        }
        Some("it is successful, and nothing that our keys have sealed shows it")
    }

    /// Whether its token opens or, if it has none, the provider's reply at its end.
    fn opens(&self, sealing: &SealingKeys) -> bool {
        let sealed = |key_id: Option<i32>, bytes: &Option<Vec<u8>>| {
            key_id.zip(bytes.clone()).map(|(key_id, bytes)| Sealed { key_id, bytes })
        };
        if self.sealed_token.is_some() {
            let place = Aad { row_id: self.id, column: TOKEN_COLUMN };
            sealed(self.token_key_id, &self.sealed_token)
                .is_some_and(|token| sealing.open(&token, place).is_ok())
        } else {
            let reply = sealed(self.reply_key_id, &self.sealed_reply);
            reply.is_some_and(|reply| sealing.open_reply(&reply, self.id).is_ok())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_is_read_in_pages_that_leave_nothing_out() {
        assert_eq!(pages((0, 4_500)).collect::<Vec<_>>(), [(0, 2_000), (2_000, 4_000), (4_000, 4_500)]);
        assert_eq!(pages((7, 2_007)).collect::<Vec<_>>(), [(7, 2_007)]);
        assert_eq!(pages((7, 7)).collect::<Vec<_>>(), [(7, 7)], "suspects are read in this page");
    }
}
