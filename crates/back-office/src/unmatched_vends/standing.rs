//! What the books have about the vends of a statement, and so what entering the statement does about each.

use database::{Connection, Database, DatabaseError, Run, Statement, column, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bool, Nullable, Text},
};
use purchase::{PurchaseId, StateName};
use reconciliation::ListedVend;

/// What the books have about a listed vend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// No order of any provider has its reference: it is entered as an unmatched vend.
    Unknown,
    /// It was entered as this unmatched vend.
    Entered(i64),
    /// Another provider was sent the order of this purchase.
    OfAnotherProvider { provider_code: String, purchase: PurchaseId },
    /// The purchase has not ended.
    Open { purchase: PurchaseId, state: StateName },
    /// The purchase was paid for it.
    Paid(PurchaseId),
    /// The purchase was paid for a vend of another transaction.
    PaidOtherwise(PurchaseId),
    /// The purchase has failed and its money was released: it is entered as an incident.
    Late(PurchaseId),
    /// As [`Standing::Late`], and the purchase has this incident.
    Incident { purchase: PurchaseId, incident: i64 },
    /// As [`Standing::Late`], but what was ordered is another amount, product or subscriber.
    LateOtherwise(PurchaseId),
    /// As [`Standing::Late`], but the transaction is that of another purchase.
    VendOfAnother { purchase: PurchaseId, of: PurchaseId },
}

struct FindStandings;

impl Statement for FindStandings {
    const SQL: &str = include_str!("find_standings.sql");
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Nullable<BigInt>)]
    unmatched_vend: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    purchase: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    state: Option<String>,
    #[diesel(sql_type = Nullable<Bool>)]
    is_its_vend: Option<bool>,
    #[diesel(sql_type = Nullable<Bool>)]
    is_its_order: Option<bool>,
    #[diesel(sql_type = Nullable<BigInt>)]
    incident: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    vend_of: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    other_provider: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    other_purchase: Option<i64>,
}

/// What the books have about each of these vends of a provider's statement, in the order of the statement.
pub async fn find_standings(
    database: &Database,
    provider_code: String,
    listed: Vec<ListedVend>,
) -> Result<Vec<Standing>, DatabaseError> {
    let found = database.read(move |connection| {
        Box::pin(async move { standings(connection, &provider_code, &listed).await })
    });
    found.await
}

pub(super) async fn standings(
    connection: &Connection,
    provider_code: &str,
    listed: &[ListedVend],
) -> Result<Vec<Standing>, DatabaseError> {
    let rows: Vec<Row> = prepared::<FindStandings>()
        .bind::<Text, _>(provider_code)
        .bind::<Array<Text>, _>(column(listed, |vend| vend.provider_reference.as_str()))
        .bind::<Array<Text>, _>(column(listed, |vend| vend.provider_transaction.as_str()))
        .bind::<Array<Text>, _>(column(listed, |vend| vend.product.as_str()))
        .bind::<Array<Text>, _>(column(listed, |vend| vend.subscriber_identifier.as_str()))
        .bind::<Array<Text>, _>(column(listed, |vend| vend.net.currency().to_string()))
        .bind::<Array<BigInt>, _>(column(listed, |vend| vend.net.minor()))
        .load(connection)
        .await?;
    rows.into_iter().map(Standing::try_from).collect()
}

impl TryFrom<Row> for Standing {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        if let (Some(provider_code), Some(other)) = (row.other_provider, row.other_purchase) {
            return Ok(Self::OfAnotherProvider { provider_code, purchase: PurchaseId(other) });
        }
        let Some(id) = row.purchase else {
            return Ok(row.unmatched_vend.map_or(Self::Unknown, Self::Entered));
        };
        let purchase = PurchaseId(id);
        let state = row.state.as_deref().and_then(StateName::parse);
        Ok(match state.ok_or_else(|| DatabaseError::corrupt("purchases", "state", id))? {
            StateName::Successful if row.is_its_vend == Some(true) => Self::Paid(purchase),
            StateName::Successful => Self::PaidOtherwise(purchase),
            StateName::Failed => match (row.incident, row.vend_of) {
                (Some(incident), _) => Self::Incident { purchase, incident },
                (None, Some(of)) => Self::VendOfAnother { purchase, of: PurchaseId(of) },
                (None, None) if row.is_its_order == Some(true) => Self::Late(purchase),
                (None, None) => Self::LateOtherwise(purchase),
            },
            state @ (StateName::InFlight | StateName::InDoubt | StateName::RetryDue | StateName::Review) => {
                Self::Open { purchase, state }
            }
        })
    }
}
