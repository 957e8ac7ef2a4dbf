//! Runs statements: those that are written as SQL, and those of Diesel's query language.
//!
//! Diesel writes the SQL, binds the parameters and reads the rows. This crate sends them itself, because diesel-async
//! drops the SQLSTATE of an error.

use std::{any::TypeId, fmt, future::poll_fn, pin::pin, sync::Arc, task::Poll};

use diesel::{
    deserialize::FromSqlRow,
    pg::{Pg, PgMetadataLookup, PgQueryBuilder, PgTypeMetadata},
    query_builder::{AsQuery, QueryBuilder, QueryFragment, QueryId, bind_collector::RawBytesBindCollector},
    query_dsl::CompatibleType,
};
use futures_util::{TryStreamExt, future::BoxFuture, pin_mut};
use tokio_postgres::{
    Client, Row, RowStream, Statement,
    types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked},
};

use crate::{
    Connection, DatabaseError,
    error::Source,
    row::{ColumnTypes, ReadRow},
};

/// As many parameters as the largest statements of the money path have.
const PARAMETERS_LIKELY: usize = 40;

/// A statement that can be run.
pub trait Run: Sized {
    /// Runs the statement and reads all its rows.
    ///
    /// # Errors
    /// What the server answers, and [`DatabaseError::Query`] if a row cannot be read.
    fn load<Out>(
        self,
        connection: &Connection,
    ) -> impl Future<Output = Result<Vec<Out>, DatabaseError>> + Send
    where
        Self: Reads<Out>,
        Out: Send,
    {
        let request = self.request(connection);
        async move {
            let rows = request?.rows(connection).await?.0;
            let types = ColumnTypes::of(&rows);
            let mut read = Vec::with_capacity(rows.len());
            for row in rows {
                read.push(Self::read(row, &types)?);
            }
            Ok(read)
        }
    }

    /// Runs the statement and reads its first row, if there is one.
    ///
    /// # Errors
    /// Like [`Run::load`].
    fn optional<Out>(
        self,
        connection: &Connection,
    ) -> impl Future<Output = Result<Option<Out>, DatabaseError>> + Send
    where
        Self: Reads<Out>,
        Out: Send,
    {
        let request = self.request(connection);
        async move {
            let rows = request?.rows(connection).await?.0;
            let types = ColumnTypes::of(&rows);
            rows.into_iter().next().map(|row| Self::read(row, &types)).transpose()
        }
    }

    /// Runs a statement that always has a row, and reads the row.
    ///
    /// # Errors
    /// Like [`Run::load`], and [`DatabaseError::Query`] if there is no row.
    fn get_result<Out>(
        self,
        connection: &Connection,
    ) -> impl Future<Output = Result<Out, DatabaseError>> + Send
    where
        Self: Reads<Out>,
        Out: Send,
    {
        let row = self.optional(connection);
        async move { row.await?.ok_or_else(|| failed("the statement has no row")) }
    }

    /// Runs the statement, and returns the number of rows that it affected.
    ///
    /// # Errors
    /// What the server answers.
    fn execute(self, connection: &Connection) -> impl Future<Output = Result<usize, DatabaseError>> + Send
    where
        Self: QueryFragment<Pg> + QueryId,
    {
        let request = Request::of(connection, &self);
        async move { Ok(request?.rows(connection).await?.1) }
    }
}

impl<Statement> Run for Statement {}

/// A statement whose rows Diesel can read as `Out`.
pub trait Reads<Out> {
    /// The statement as it is sent.
    ///
    /// # Errors
    /// [`DatabaseError::Query`] if Diesel cannot write it.
    fn request(self, connection: &Connection) -> Result<Request, DatabaseError>;

    /// Reads a row. `types` are those of its columns.
    ///
    /// # Errors
    /// [`DatabaseError::Query`] if the row is not as `Out` says.
    fn read(row: Row, types: &ColumnTypes) -> Result<Out, DatabaseError>;
}

impl<Query, Out> Reads<Out> for Query
where
    Query: AsQuery,
    Query::Query: QueryFragment<Pg> + QueryId,
    Query::SqlType: CompatibleType<Out, Pg>,
    Out: FromSqlRow<<Query::SqlType as CompatibleType<Out, Pg>>::SqlType, Pg>,
{
    fn request(self, connection: &Connection) -> Result<Request, DatabaseError> {
        Request::of(connection, &self.as_query())
    }

    fn read(row: Row, types: &ColumnTypes) -> Result<Out, DatabaseError> {
        Out::build_from_row(&ReadRow::of(row, types)).map_err(failed)
    }
}

/// A statement as it is sent.
#[derive(Debug)]
pub struct Request {
    statement: Wanted,
    parameters: Vec<Parameter>,
}

/// How the server knows the statement.
#[derive(Debug)]
enum Wanted {
    /// This connection has prepared it.
    Prepared(Statement),
    /// This connection prepares it now, and keeps it under its type. A statement that is composed while the program
    /// runs has no such type.
    New { id: Option<TypeId>, sql: String, types: Vec<Type> },
}

impl Request {
    /// Everything that needs the statement itself happens here, so that what is awaited later is small.
    pub(crate) fn of(
        connection: &Connection,
        query: &(impl QueryFragment<Pg> + QueryId),
    ) -> Result<Self, DatabaseError> {
        let mut collected = RawBytesBindCollector::<Pg>::new();
        collected.binds.reserve(PARAMETERS_LIKELY);
        collected.metadata.reserve(PARAMETERS_LIKELY);
        query.collect_binds(&mut collected, &mut NoOwnTypes, &Pg).map_err(failed)?;
        let parameters = collected.binds.into_iter().map(Parameter).collect();
        let id = id_of(query);
        if let Some(statement) = id.and_then(|id| connection.prepared(id)) {
            return Ok(Self { statement: Wanted::Prepared(statement), parameters });
        }
        let mut sql = PgQueryBuilder::new();
        query.to_sql(&mut sql, &Pg).map_err(failed)?;
        let id = id.filter(|_| query.is_safe_to_cache_prepared(&Pg).unwrap_or_default());
        let types = collected.metadata.iter().map(type_of).collect::<Result<_, _>>()?;
        Ok(Self { statement: Wanted::New { id, sql: sql.finish(), types }, parameters })
    }

    /// The rows, and the number of rows that were affected. It is boxed because a group of the money path runs many
    /// statements at once.
    fn rows(self, connection: &Connection) -> BoxFuture<'_, Result<(Vec<Row>, usize), DatabaseError>> {
        Box::pin(async move { self.receive(connection).await.map_err(|error| connection.failed(error)) })
    }

    async fn receive(self, connection: &Connection) -> Result<(Vec<Row>, usize), tokio_postgres::Error> {
        let mut found = Vec::new();
        let rows = self.send(connection).await?;
        pin_mut!(rows);
        while let Some(row) = rows.try_next().await? {
            found.push(row);
        }
        let affected = rows.rows_affected().and_then(|affected| usize::try_from(affected).ok());
        Ok((found, affected.unwrap_or_default()))
    }

    /// Statements that run at the same time are sent in the order in which they were begun, also while one of them is
    /// prepared.
    async fn send(self, connection: &Connection) -> Result<RowStream, tokio_postgres::Error> {
        let turn = connection.turn().await;
        let mut answer =
            pin!(self.statement.known(connection).await?.run(connection.client(), self.parameters));
        // The first poll sends it.
        let sent = poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await;
        drop(turn);
        match sent {
            Poll::Ready(answer) => answer,
            Poll::Pending => answer.await,
        }
    }

    /// Whether it can be sent without a question to the server before.
    pub(crate) const fn is_known(&self) -> bool {
        matches!(self.statement, Wanted::Prepared(_) | Wanted::New { id: None, .. })
    }

    /// Sends the statement, in the order of [`Request::send`], and does not wait for its answer.
    ///
    /// # Errors
    /// If it was certainly not sent, or if its answer was there at once and is an error.
    pub(crate) async fn launch(self, connection: &Connection) -> Result<Answer, tokio_postgres::Error> {
        let _turn = connection.turn().await;
        let known = self.statement.known(connection).await?;
        let (client, parameters): (Arc<Client>, _) = (connection.client().clone(), self.parameters);
        let mut answer: BoxFuture<'static, _> = Box::pin(async move {
            let rows = known.run(&client, parameters).await?;
            pin_mut!(rows);
            while rows.try_next().await?.is_some() {}
            Ok(())
        });
        // The first poll sends it.
        match poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await {
            Poll::Ready(Err(error)) => Err(error),
            Poll::Ready(Ok(())) => Ok(Answer(Box::pin(std::future::ready(Ok(()))))),
            Poll::Pending => Ok(Answer(answer)),
        }
    }
}

/// The answer to a statement that was sent.
pub(crate) struct Answer(BoxFuture<'static, Result<(), tokio_postgres::Error>>);

impl Answer {
    /// Waits for the answer.
    pub(crate) async fn receive(self) -> Result<(), tokio_postgres::Error> {
        self.0.await
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").finish_non_exhaustive()
    }
}

impl Wanted {
    /// The statement as the server knows it. Prepares it if this connection has not.
    async fn known(self, connection: &Connection) -> Result<Known, tokio_postgres::Error> {
        Ok(match self {
            Self::Prepared(statement) => Known::Prepared(statement),
            Self::New { id: Some(id), sql, types } => Known::Prepared(match connection.prepared(id) {
                // Another statement of this type had the turn before this one.
                Some(statement) => statement,
                None => prepare(connection, id, &sql, &types).await?,
            }),
            Self::New { id: None, sql, types } => Known::Text { sql, types },
        })
    }
}

/// A statement that can be sent at once.
enum Known {
    Prepared(Statement),
    Text { sql: String, types: Vec<Type> },
}

impl Known {
    async fn run(
        self,
        client: &Client,
        parameters: Vec<Parameter>,
    ) -> Result<RowStream, tokio_postgres::Error> {
        match self {
            Self::Prepared(statement) => client.query_raw(&statement, parameters).await,
            Self::Text { sql, types } => {
                client.query_typed_raw(&sql, parameters.into_iter().zip(types)).await
            }
        }
    }
}

async fn prepare(
    connection: &Connection,
    id: TypeId,
    sql: &str,
    types: &[Type],
) -> Result<Statement, tokio_postgres::Error> {
    let statement = connection.client().prepare_typed(sql, types).await?;
    connection.keep(id, statement.clone());
    Ok(statement)
}

fn id_of<Query: QueryId>(_: &Query) -> Option<TypeId> {
    Query::query_id()
}

fn type_of(metadata: &PgTypeMetadata) -> Result<Type, DatabaseError> {
    let oid = metadata.oid().map_err(failed)?;
    Type::from_oid(oid).ok_or_else(|| failed(format!("the type {oid} is not one of Postgres' own")))
}

fn failed(source: impl Into<Source>) -> DatabaseError {
    DatabaseError::Query { source: source.into() }
}

/// The schema defines no types, so there is nothing to look up.
struct NoOwnTypes;

impl PgMetadataLookup for NoOwnTypes {
    fn lookup_type(&mut self, _name: &str, _schema: Option<&str>) -> PgTypeMetadata {
        PgTypeMetadata::new(0, 0)
    }
}

/// A parameter in Postgres' binary format. `None` is NULL.
#[derive(Debug)]
struct Parameter(Option<Vec<u8>>);

impl ToSql for Parameter {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Source> {
        let Some(bytes) = &self.0 else { return Ok(IsNull::Yes) };
        out.extend_from_slice(bytes);
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
