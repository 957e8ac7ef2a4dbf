//! `/cgi-bin/sendsms`, and the inbox.

use actix_web::{
    HttpRequest, HttpResponse,
    http::{StatusCode, header::CONTENT_TYPE},
    web::{Bytes, Data, Query},
};
use serde::Deserialize;

use super::broken_body::BrokenBody;
use crate::{
    messaging::{Reception, Sms},
    world::World,
};

#[derive(Deserialize)]
pub(super) struct InboxQuery {
    to: Option<String>,
}

/// `GET /messages?to=`.
pub(super) async fn inbox(world: Data<World>, query: Query<InboxQuery>) -> HttpResponse {
    HttpResponse::Ok().json(world.post.inbox.read(query.to.as_deref()))
}

/// `GET` and `POST /cgi-bin/sendsms`, the latter with a form.
pub(super) async fn sendsms(world: Data<World>, http: HttpRequest, body: Bytes) -> HttpResponse {
    let content_type = http.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_form = content_type.is_some_and(|value| value.starts_with("application/x-www-form-urlencoded"));
    let sms = Sms::default().read(http.query_string().as_bytes());
    let sms = if is_form { sms.read(&body) } else { sms };
    let (reception, said) = world.post.take_sms(&sms);
    match reception {
        Reception::TakenUnsaid | Reception::Unheard => {
            return HttpResponse::Ok().body(BrokenBody::nothing());
        }
        Reception::TakenLate(delay) => tokio::time::sleep(delay).await,
        Reception::Taken | Reception::RefusedForNow | Reception::RefusedForGood => {}
    }
    let status = StatusCode::from_u16(said.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    HttpResponse::build(status).content_type("text/html").body(said.line)
}
