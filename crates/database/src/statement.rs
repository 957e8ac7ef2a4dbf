//! Statements that are written as SQL. The server prepares each of them once per connection.
//!
//! Diesel's `sql_query` is parsed and planned again at every run, because its type does not identify the statement.
//! Here every statement is a type, so the connection's cache of prepared statements recognises it.

use std::{any::Any, marker::PhantomData};

use diesel::{
    QueryResult,
    pg::Pg,
    query_builder::{AstPass, Query, QueryFragment, QueryId},
    serialize::ToSql,
    sql_types::{HasSqlType, Untyped},
};

/// A statement with its SQL. Its parameters are `$1`, `$2` and so on, in the order in which they are bound. Its rows
/// are read by column name (`QueryableByName`).
///
/// ```ignore
/// struct LockWallets;
///
/// impl Statement for LockWallets {
///     const SQL: &str = include_str!("lock_wallets.sql");
/// }
///
/// let wallets: Vec<row::Wallet> =
///     prepared::<LockWallets>().bind::<Array<BigInt>, _>(&ids).load(&transaction).await?;
/// ```
pub trait Statement: Any {
    const SQL: &'static str;
}

/// The statement `S`, ready for its parameters to be bound.
pub const fn prepared<S: Statement>() -> Prepared<S> {
    Prepared(PhantomData)
}

/// A statement with nothing bound yet. See [`prepared`].
#[must_use = "a statement does nothing until it is run"]
pub struct Prepared<S>(PhantomData<fn() -> S>);

/// A statement with one parameter more than `Inner`.
#[must_use = "a statement does nothing until it is run"]
pub struct Bound<Inner, Type, Value> {
    inner: Inner,
    value: Value,
    sql_type: PhantomData<fn() -> Type>,
}

impl<S> Prepared<S> {
    /// Binds `$1` as the SQL type `Type`.
    pub fn bind<Type, Value>(self, value: Value) -> Bound<Self, Type, Value> {
        Bound { inner: self, value, sql_type: PhantomData }
    }
}

impl<Inner, Type, Value> Bound<Inner, Type, Value> {
    /// Binds the next parameter as the SQL type `NextType`.
    pub fn bind<NextType, NextValue>(self, value: NextValue) -> Bound<Self, NextType, NextValue> {
        Bound { inner: self, value, sql_type: PhantomData }
    }
}

impl<S: Statement> QueryId for Prepared<S> {
    type QueryId = S;

    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<S> Query for Prepared<S> {
    type SqlType = Untyped;
}

impl<S: Statement> QueryFragment<Pg> for Prepared<S> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(S::SQL);
        Ok(())
    }
}

impl<Inner: QueryId, Type: QueryId, Value> QueryId for Bound<Inner, Type, Value> {
    type QueryId = (Inner::QueryId, Type::QueryId);

    const HAS_STATIC_QUERY_ID: bool = Inner::HAS_STATIC_QUERY_ID && Type::HAS_STATIC_QUERY_ID;
}

impl<Inner, Type, Value> Query for Bound<Inner, Type, Value> {
    type SqlType = Untyped;
}

impl<Inner, Type, Value> QueryFragment<Pg> for Bound<Inner, Type, Value>
where
    Inner: QueryFragment<Pg>,
    Pg: HasSqlType<Type>,
    Value: ToSql<Type, Pg>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.inner.walk_ast(out.reborrow())?;
        out.push_bind_param_value_only(&self.value)
    }
}

#[cfg(test)]
mod tests {
    use diesel::{
        QueryableByName,
        sql_types::{BigInt, Text},
    };

    use super::*;
    use crate::{Run, test_database::database};

    struct Add;

    impl Statement for Add {
        const SQL: &str = "SELECT $1 + $2 AS sum";
    }

    #[derive(QueryableByName)]
    struct Sum {
        #[diesel(sql_type = BigInt)]
        sum: i64,
    }

    #[derive(QueryableByName)]
    struct Plans {
        #[diesel(sql_type = BigInt)]
        runs: i64,
    }

    #[tokio::test]
    async fn a_statement_is_prepared_once_on_a_connection_however_often_it_runs() {
        let (database, _local) = database().await;
        let connection = database.get().await.unwrap();
        for (left, right) in [(1, 2), (30, 4), (500, 6)] {
            let sum: Sum = prepared::<Add>()
                .bind::<BigInt, _>(left)
                .bind::<BigInt, _>(right)
                .get_result(&connection)
                .await
                .unwrap();
            assert_eq!(sum.sum, left + right);
        }

        let known: Vec<Plans> = diesel::sql_query(
            "SELECT generic_plans + custom_plans AS runs FROM pg_prepared_statements WHERE statement = $1",
        )
        .bind::<Text, _>(Add::SQL)
        .load(&connection)
        .await
        .unwrap();
        let runs: Vec<_> = known.iter().map(|plans| plans.runs).collect();
        assert_eq!(runs, [3], "one prepared statement served every run");
    }
}
