//! The statement of an account, in three formats.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path},
};

use error_codes::ErrorCode;
use identity::{Identity, Permission};
use ledger::AccountId;
use purchase::{OrganisationId, StatementPage};
use vending::Vending;
use web::{ApiError, SharedState, authorised, authority, found, not_read};

use crate::{
    requests::{self, Format, StatementQuery},
    wire,
    wire::NEXT_CURSOR,
};

/// `GET /public/v1/accounts/{id}/statement`: the account of another organisation is answered as one that does not
/// exist. One that was closed or suspended still has its statements.
pub async fn statement(
    request: HttpRequest,
    id: Path<String>,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::AccountsRead).await?;
    let account = requests::account_in_path(&id)?;
    let shared = SharedState::of(&request);
    let query = requests::statement_query(&request, account, &shared.zone(), shared.clock().now())?;
    let page = page(&vending, authority(&caller).organisation, account, &query, &shared).await?;
    let extent = &page.statement.extent;
    let cursor = page.next.map(|next| query.cursor_after(account, extent, next));
    let mut answer = HttpResponse::Ok();
    if let Some(cursor) = &cursor {
        answer.insert_header((NEXT_CURSOR, cursor.as_str()));
    }
    let written =
        |error: &dyn std::fmt::Display| ApiError::new(ErrorCode::InternalError).because(error.to_string());
    match query.format {
        Format::Json => Ok(answer.json(wire::Statement::new(&page, &query.days, cursor, &shared))),
        Format::Csv => {
            let rows = wire::Statement::new(&page, &query.days, cursor, &shared).to_csv(query.page == 1);
            Ok(answer.content_type("text/csv; charset=utf-8").body(rows.map_err(|error| written(&error))?))
        }
        Format::Camt053 => {
            let at = shared.clock().now();
            let message = wire::Camt053 { page: &page, days: &query.days, number: query.page, at };
            let xml = message.to_xml(&shared).map_err(|error| written(&error))?;
            Ok(answer.content_type(Format::Camt053.media_type()).body(xml))
        }
    }
}

async fn page(
    vending: &Vending,
    organisation: OrganisationId,
    account: AccountId,
    query: &StatementQuery,
    shared: &SharedState,
) -> Result<StatementPage, ApiError> {
    let opened = match query.after {
        Some((extent, _)) => vending.reopen_statement(organisation, account, extent).await,
        None => vending.open_statement(organisation, account, query.days.period(&shared.zone())).await,
    };
    let opened = opened.map_err(not_read)?;
    let statement = found(opened)?;
    vending.list_movements(statement, query.after.map(|(_, line)| line), query.limit).await.map_err(not_read)
}
