//! Open purchases, checked completely at every look. They are few, and have an index of their own.

use catalogue::read_currency;
use database::{DatabaseError, Run, Statement, Transaction, prepared};
use diesel::sql_types::{BigInt, Text};
use money::Money;

use super::{Invariant, Violation};

struct CheckHolds;

impl Statement for CheckHolds {
    const SQL: &str = include_str!("check_holds.sql");
}

#[derive(diesel::QueryableByName)]
struct HoldRow {
    #[diesel(sql_type = BigInt)]
    account_id: i64,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    held: i64,
    #[diesel(sql_type = BigInt)]
    open: i64,
}

struct CheckDue;

impl Statement for CheckDue {
    const SQL: &str = include_str!("check_due.sql");
}

#[derive(diesel::QueryableByName)]
struct DueRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    state: String,
    /// By how many seconds it is late. Negative if it has no due time.
    #[diesel(sql_type = BigInt)]
    late_s: i64,
}

/// Checks every hold and every open purchase.
pub(super) async fn look(transaction: &Transaction) -> Result<Vec<Violation>, DatabaseError> {
    let holds: Vec<HoldRow> = prepared::<CheckHolds>().load(transaction).await?;
    let due: Vec<DueRow> = prepared::<CheckDue>().load(transaction).await?;
    let holds = holds.into_iter().map(HoldRow::violation).collect::<Result<Vec<_>, _>>()?;
    Ok(holds.into_iter().chain(due.into_iter().map(DueRow::violation)).collect())
}

impl HoldRow {
    fn violation(self) -> Result<Violation, DatabaseError> {
        let currency = read_currency("accounts", self.account_id, &self.currency)?;
        let [held, open] = [self.held, self.open].map(|minor| Money::from_minor(minor, currency));
        Ok(Violation {
            invariant: Invariant::HoldsEqualOpenPurchases,
            subject: format!("account:{}", self.account_id),
            finding: format!("{held} is held, and open purchases come to {open}"),
        })
    }
}

impl DueRow {
    fn violation(self) -> Violation {
        let Self { id, state, late_s } = self;
        let (invariant, finding) = if late_s < 0 {
            (Invariant::OpenPurchasesAreDue, format!("it is {state}, and has no due time"))
        } else {
            (Invariant::DuePurchasesAreTakenUp, format!("it is {state}, and due for {late_s} s"))
        };
        Violation { invariant, subject: format!("purchase:{id}"), finding }
    }
}
