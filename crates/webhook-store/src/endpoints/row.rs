//! The row of an endpoint.

use chrono::{DateTime, Utc};
use database::DatabaseError;
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz},
};
use webhook::{Endpoint, EndpointId, EndpointSettings, EndpointStatus};

#[derive(QueryableByName)]
pub(super) struct EndpointRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    url: String,
    #[diesel(sql_type = Nullable<Text>)]
    description: Option<String>,
    #[diesel(sql_type = Array<Text>)]
    event_types: Vec<String>,
    #[diesel(sql_type = Bool)]
    include_tokens: bool,
    #[diesel(sql_type = Text)]
    status: String,
    #[diesel(sql_type = Timestamptz)]
    status_since: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Text>)]
    switched_off_because: Option<String>,
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
    #[diesel(sql_type = Array<Text>)]
    public_keys: Vec<String>,
}

impl TryFrom<EndpointRow> for Endpoint {
    type Error = DatabaseError;

    fn try_from(row: EndpointRow) -> Result<Self, DatabaseError> {
        let status = EndpointStatus::parse(&row.status, row.switched_off_because.as_deref())
            .ok_or_else(|| DatabaseError::corrupt("webhook_endpoints", "status", row.id))?;
        Ok(Self {
            id: EndpointId(row.id),
            settings: EndpointSettings {
                url: row.url,
                description: row.description,
                event_types: row.event_types,
                include_tokens: row.include_tokens,
            },
            status,
            status_since: row.status_since,
            created_at: row.created_at,
            public_keys: row.public_keys,
        })
    }
}
