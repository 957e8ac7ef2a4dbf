//! The feed of what happened to the caller's things.

use actix_web::{HttpRequest, HttpResponse, web::Data};

use identity::{Identity, Permission};
use vending::Vending;
use web::{ApiError, Detail, authorised, authority, not_read};

use crate::{
    requests::{self, EventList},
    wire,
};

/// `GET /public/v1/events`: waits if it is asked to and there is no event.
pub async fn list(
    request: HttpRequest,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::PurchasesRead).await?;
    let query = requests::event_list(request.query_string())?;
    let page = vending
        .events(authority(&caller).organisation, query.after, &query.types, query.limit, query.wait)
        .await
        .map_err(not_read)?;
    let page = page.ok_or_else(|| ApiError::new(Detail::EventsDeleted).about("cursor"))?;
    let next_cursor = EventList::cursor_after(page.next);
    Ok(HttpResponse::Ok().json(wire::EventPage::new(&page, next_cursor)))
}
