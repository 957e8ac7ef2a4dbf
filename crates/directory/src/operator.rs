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

struct ListOperators;

impl Statement for ListOperators {
    const SQL: &str = "-- list_operators
SELECT l.login, l.roles, EXISTS (
    SELECT FROM pg_roles WHERE rolname = 'vendgate_token_reader' AND pg_has_role(l.oid, oid, 'MEMBER')
) AS reads_tokens
FROM (
    SELECT r.oid, r.rolname::text AS login, ARRAY (
        SELECT word FROM unnest($1) AS word
        WHERE pg_has_role(r.oid, 'vendgate_operator', 'MEMBER') OR pg_has_role(r.oid, 'vendgate_' || word, 'MEMBER')
    ) AS roles
    FROM pg_roles r WHERE r.rolcanlogin AND NOT r.rolsuper
) AS l
WHERE l.roles <> '{}' ORDER BY l.login";
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
    Ok(found.await?.into())
}

/// Every login that has a role of operators, by its name. Superusers, who are above all roles, are left out.
pub async fn list_operators(database: &Database) -> Result<Vec<Operator>, DatabaseError> {
    let words = OperatorRole::ALL.map(OperatorRole::word).to_vec();
    let listed = database.read(|connection| {
        Box::pin(async move {
            prepared::<ListOperators>().bind::<Array<Text>, _>(words).load::<Row>(connection).await
        })
    });
    Ok(listed.await?.into_iter().map(Operator::from).collect())
}

impl From<Row> for Operator {
    fn from(Row { login, roles, reads_tokens }: Row) -> Self {
        let has = |role: &OperatorRole| roles.iter().any(|word| word == role.word());
        Self { login, roles: OperatorRole::ALL.into_iter().filter(has).collect(), reads_tokens }
    }
}
