//! `/cgi-bin/sendsms`, and the inbox.

use actix_web::{
    HttpRequest, HttpResponse,
    http::{Method, StatusCode},
    web::{Bytes, Data, Query},
};
use message_sim::{Reception, Sms};
use serde::Deserialize;

use super::broken_body::BrokenBody;
use crate::world::World;

#[derive(Deserialize)]
pub(super) struct InboxQuery {
    to: Option<String>,
}

/// `GET /messages?to=`.
pub(super) async fn inbox(world: Data<World>, query: Query<InboxQuery>) -> HttpResponse {
    HttpResponse::Ok().json(world.post.inbox.read(query.to.as_deref()))
}

/// `GET` and `POST /cgi-bin/sendsms`: parameters in the query, or in the head with the text as the body.
pub(super) async fn sendsms(world: Data<World>, http: HttpRequest, body: Bytes) -> HttpResponse {
    let sms = if http.method() == Method::POST {
        let fields = http.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        Sms::posted(fields, &body)
    } else {
        Ok(Sms::of_query(http.query_string().as_bytes()))
    };
    let (reception, said) = match sms {
        Ok(sms) => world.post.take_sms(&sms),
        Err(refused) => (Reception::Taken, refused),
    };
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
