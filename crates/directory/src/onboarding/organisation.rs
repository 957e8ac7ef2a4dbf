//! Organisations: the customers of the service.

use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Transaction};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::json;

use crate::{
    AuditContext, AuditEntry, Environment, Status, append,
    schema::organisations::{code, created_at, environment, id, name, receipt_footer, status, table},
    words::Word,
};

/// An organisation to be created.
#[derive(Debug, Clone)]
pub struct NewOrganisation {
    /// The `org_code` that its users give: 1 to 64 letters, digits, `_` and `-`.
    pub code: String,
    pub name: String,
    pub environment: Environment,
}

/// An organisation as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrganisationRecord {
    pub id: i64,
    pub code: String,
    pub name: String,
    pub environment: Environment,
    pub status: Status,
    pub created_at: DateTime<Utc>,
    /// The end of its receipts, in lines.
    pub receipt_footer: Option<String>,
}

type Row = (i64, String, String, String, String, DateTime<Utc>, Option<String>);

/// The columns of a [`Row`].
const COLUMNS: (id, code, name, environment, status, created_at, receipt_footer) =
    (id, code, name, environment, status, created_at, receipt_footer);

/// Creates an organisation, and returns its id.
///
/// # Errors
/// [`DatabaseError::Duplicate`] if the code is taken.
pub async fn create_organisation(
    database: &Database,
    new: NewOrganisation,
    act: AuditContext,
) -> Result<i64, DatabaseError> {
    database.operate(move |transaction| Box::pin(async move { insert(transaction, &new, &act).await })).await
}

/// The organisation with this code.
pub async fn find_organisation(
    database: &Database,
    by_code: String,
) -> Result<Option<OrganisationRecord>, DatabaseError> {
    let found = database.read(move |connection| {
        Box::pin(async move {
            let rows = table.filter(code.eq(by_code)).select(COLUMNS);
            rows.optional::<Row>(connection).await
        })
    });
    found.await?.map(OrganisationRecord::try_from).transpose()
}

/// All organisations, ordered by code.
pub async fn list_organisations(database: &Database) -> Result<Vec<OrganisationRecord>, DatabaseError> {
    let rows = database.read(|connection| {
        Box::pin(async move {
            let rows = table.order(code).select(COLUMNS);
            rows.load::<Row>(connection).await
        })
    });
    rows.await?.into_iter().map(OrganisationRecord::try_from).collect()
}

/// Sets the end of an organisation's receipts, or takes it away.
///
/// # Errors
/// [`DatabaseError::Absent`] if there is no such organisation.
pub async fn set_receipt_footer(
    database: &Database,
    organisation: i64,
    footer: Option<String>,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let set = database.operate(move |transaction| {
        Box::pin(async move {
            let updated = diesel::update(table.find(organisation)).set(receipt_footer.eq(&footer));
            if updated.execute(transaction).await? == 0 {
                return Err(DatabaseError::Absent { what: "organisation", key: organisation.to_string() });
            }
            let entry = AuditEntry {
                act: &act,
                action: "organisation.receipt_footer_set",
                organisation_id: Some(organisation),
                subject: format!("organisation:{organisation}"),
                details: json!({ "footer": footer }),
            };
            append(transaction, entry).await
        })
    });
    set.await
}

async fn insert(
    transaction: &Transaction,
    new: &NewOrganisation,
    act: &AuditContext,
) -> Result<i64, DatabaseError> {
    let inserted = diesel::insert_into(table)
        .values((code.eq(&new.code), name.eq(&new.name), environment.eq(new.environment.code())))
        .returning(id)
        .get_result(transaction);
    let organisation_id = inserted.await?;
    let entry = AuditEntry {
        act,
        action: "organisation.created",
        organisation_id: Some(organisation_id),
        subject: format!("organisation:{organisation_id}"),
        details: json!({ "code": new.code, "name": new.name, "environment": new.environment.code() }),
    };
    append(transaction, entry).await?;
    Ok(organisation_id)
}

impl TryFrom<Row> for OrganisationRecord {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let (key, its_code, its_name, its_environment, its_status, its_beginning, its_footer) = row;
        Ok(Self {
            id: key,
            code: its_code,
            name: its_name,
            environment: Environment::read(&its_environment, "organisations", "environment", key)?,
            status: Status::read(&its_status, "organisations", "status", key)?,
            created_at: its_beginning,
            receipt_footer: its_footer,
        })
    }
}
