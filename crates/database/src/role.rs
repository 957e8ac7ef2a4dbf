//! Whether the role of our connection could violate what the schema guarantees.

use diesel::{
    QueryableByName,
    sql_types::{Bool, Text},
};

use crate::{Database, DatabaseError, Run};

impl Database {
    /// Refuses a role that could rewrite the audit log or write any posting, as the owner and every superuser could. A
    /// server that handles money calls this before it serves.
    ///
    /// # Errors
    /// [`DatabaseError::Setting`], which names the role.
    pub async fn refuse_powerful_role(&self) -> Result<(), DatabaseError> {
        let role: Role =
            self.read(|connection| Box::pin(diesel::sql_query(ASK).get_result(connection))).await?;
        if role.powerful {
            let required =
                "a role that is only a member of vendgate_api, vendgate_worker or vendgate_operator";
            return Err(DatabaseError::Setting { name: "role", value: role.name, required });
        }
        Ok(())
    }
}

const ASK: &str = "SELECT current_user::text AS name,
                          has_table_privilege('public.audit_log', 'UPDATE, DELETE, TRUNCATE')
                              OR has_table_privilege('public.postings', 'INSERT, UPDATE, DELETE, TRUNCATE') AS powerful";

#[derive(QueryableByName)]
struct Role {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Bool)]
    powerful: bool,
}
