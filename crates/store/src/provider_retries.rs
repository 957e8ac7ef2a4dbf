//! Whether the retry endpoint may settle what a provider vends: an operator's switch, with its line in the audit log.

use diesel::sql_types::{Bool, Text};
use diesel_async::RunQueryDsl;
use serde_json::json;

use crate::identity::{Act, AuditEntry, append};
use crate::statement::{Statement, prepared};
use crate::{Store, StoreError};

struct SetProviderRetries;

impl Statement for SetProviderRetries {
    const SQL: &str = "-- set_provider_retries\nUPDATE providers SET retries_enabled = $2 WHERE code = $1";
}

impl Store {
    /// Switches retries on or off for one provider.
    ///
    /// # Errors
    /// [`StoreError::Absent`] when there is no such provider.
    pub async fn set_provider_retries(
        &self,
        code: String,
        are_enabled: bool,
        act: Act,
    ) -> Result<(), StoreError> {
        let work = self.operate(move |transaction| {
            Box::pin(async move {
                let set = prepared::<SetProviderRetries>()
                    .bind::<Text, _>(code.as_str())
                    .bind::<Bool, _>(are_enabled);
                if set.execute(&mut **transaction).await? == 0 {
                    return Err(StoreError::Absent { what: "provider", key: code });
                }
                let entry = AuditEntry {
                    act: &act,
                    action: "provider.retries_set",
                    organisation_id: None,
                    subject: format!("provider:{code}"),
                    details: json!({ "retries_enabled": are_enabled }),
                };
                append(transaction, entry).await
            })
        });
        work.await
    }
}
