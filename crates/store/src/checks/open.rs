//! What is open, looked at whole: it is little, and an index of its own holds it.

use diesel::sql_types::{BigInt, Text};
use diesel_async::RunQueryDsl;
use money::Money;

use super::{Breach, Law};
use crate::StoreError;
use crate::row::read_currency;
use crate::statement::{Statement, prepared};
use crate::transaction::Transaction;

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
    /// By how many seconds it is late; less than nothing where it is not due at all.
    #[diesel(sql_type = BigInt)]
    late_s: i64,
}

/// Looks at every hold and every open purchase.
pub(super) async fn look(transaction: &mut Transaction) -> Result<Vec<Breach>, StoreError> {
    let holds: Vec<HoldRow> = prepared::<CheckHolds>().load(&mut **transaction).await?;
    let due: Vec<DueRow> = prepared::<CheckDue>().load(&mut **transaction).await?;
    let holds = holds.into_iter().map(HoldRow::breach).collect::<Result<Vec<_>, _>>()?;
    Ok(holds.into_iter().chain(due.into_iter().map(DueRow::breach)).collect())
}

impl HoldRow {
    fn breach(self) -> Result<Breach, StoreError> {
        let currency = read_currency("accounts", self.account_id, &self.currency)?;
        let [held, open] = [self.held, self.open].map(|minor| Money::from_minor(minor, currency));
        Ok(Breach {
            law: Law::HoldsEqualOpenPurchases,
            subject: format!("account:{}", self.account_id),
            finding: format!("{held} is held, and open purchases come to {open}"),
        })
    }
}

impl DueRow {
    fn breach(self) -> Breach {
        let Self { id, state, late_s } = self;
        let (law, finding) = if late_s < 0 {
            (Law::OpenPurchasesAreDue, format!("it is {state}, and nobody is to look at it"))
        } else {
            (Law::DuePurchasesAreTakenUp, format!("it is {state}, and due for {late_s} s"))
        };
        Breach { law, subject: format!("purchase:{id}"), finding }
    }
}
