//! The report of sales.

use actix_web::{HttpRequest, HttpResponse, web::Data};

use error_codes::ErrorCode;
use identity::{Identity, Permission};
use vending::Vending;
use web::{ApiError, SharedState, authorised, authority, not_read};

use crate::{
    requests::{self, Format},
    wire,
};

/// `GET /public/v1/reports/sales`
pub async fn sales(
    request: HttpRequest,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::PurchasesRead).await?;
    let shared = SharedState::of(&request);
    let query = requests::sales_query(&request, &shared.zone(), shared.clock().now())?;
    let days = query.days.each(&shared.zone());
    let report = vending.sales(authority(&caller).organisation, days).await.map_err(not_read)?;
    let report = wire::Sales::new(report, &query.days, &shared);
    if query.format == Format::Csv {
        let rows = report.to_csv();
        let rows =
            rows.map_err(|error| ApiError::new(ErrorCode::InternalError).because(error.to_string()))?;
        return Ok(HttpResponse::Ok().content_type("text/csv; charset=utf-8").body(rows));
    }
    Ok(HttpResponse::Ok().json(report))
}
