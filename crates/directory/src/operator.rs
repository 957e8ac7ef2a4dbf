//! The operator at the other end of our connection: the login, and the roles that the database says it has.

use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, Bool, Text},
};

/// What a login of an operator may do. The database grants it; a program only names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperatorRole {
    /// Reads.
    Support,
    /// Moves money and reconciles.
    Finance,
    /// Organisations, the catalogue, decisions about purchases, thresholds.
    Administrator,
}

impl OperatorRole {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::Support, Self::Finance, Self::Administrator];

    /// The word for it. The role of the database is `vendgate_` and this word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Support => "support",
            Self::Finance => "finance",
            Self::Administrator => "administrator",
        }
    }
}

/// A login and its roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator {
    pub login: String,
    /// None if the login is not an operator's.
    pub roles: Vec<OperatorRole>,
    /// Whether the login is also a member of `vendgate_token_reader`, who may be shown a token of a purchase.
    pub reads_tokens: bool,
}

struct FindOperator;

impl Statement for FindOperator {
    const SQL: &str = "-- find_operator
SELECT session_user::text AS login, ARRAY (
    SELECT word FROM unnest($1) AS word
    WHERE pg_has_role(session_user, 'vendgate_operator', 'MEMBER') OR pg_has_role(session_user, 'vendgate_' || word, 'MEMBER')
) AS roles, EXISTS (
    SELECT FROM pg_roles WHERE rolname = 'vendgate_token_reader' AND pg_has_role(session_user, oid, 'MEMBER')
) AS reads_tokens";
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    login: String,
    #[diesel(sql_type = Array<Text>)]
    roles: Vec<String>,
    #[diesel(sql_type = Bool)]
    reads_tokens: bool,
}

/// Who is connected. Any login may ask.
pub async fn find_operator(database: &Database) -> Result<Operator, DatabaseError> {
    let words = OperatorRole::ALL.map(OperatorRole::word).to_vec();
    let found = database.read(|connection| {
        Box::pin(async move {
            prepared::<FindOperator>().bind::<Array<Text>, _>(words).get_result::<Row>(connection).await
        })
    });
    let Row { login, roles, reads_tokens } = found.await?;
    let has = |role: &OperatorRole| roles.iter().any(|word| word == role.word());
    Ok(Operator { login, roles: OperatorRole::ALL.into_iter().filter(has).collect(), reads_tokens })
}
