//! `POST /xmlvend`.

use std::sync::Arc;

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderName},
    web::{Bytes, Data},
};

use super::delivery::{Delivery, unzipped};
use crate::{
    refusal::Refusal,
    script::{Misbehaviour, Mishap},
    utility::{Answer, Utility},
    world::World,
    xmlvend::{Request, Soap, Unreadable, render_unidentified},
};

/// Reads, answers, delivers.
pub(super) async fn xmlvend(world: Data<World>, http: HttpRequest, body: Bytes) -> HttpResponse {
    let gzip = world.gzip && mentions_gzip(&http, &ACCEPT_ENCODING);
    let document = if mentions_gzip(&http, &CONTENT_ENCODING) { unzipped(&body) } else { Some(body.into()) };
    let Some(document) = document.and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return unidentified("the request is not text in UTF-8", Soap::V11);
    };
    let request = match Request::read(&document) {
        Ok(request) => request,
        Err(Unreadable { soap, sender: None, why }) => return unidentified(&why, soap),
        Err(Unreadable { soap, sender: Some(sender), why }) => {
            let answer = world.utility.refuse(&sender, Refusal::schema(why));
            return Delivery { soap, gzip, swap_desk: &world.swap_desk }.deliver(answer).await;
        }
    };
    let soap = request.soap;
    let scripted = world.utility.scripted(&request);
    let answer = answered(&world.utility, request, scripted).await;
    Delivery { soap, gzip, swap_desk: &world.swap_desk }.deliver(answer).await
}

/// A request that waits in front of the utility is looked at in the end, even if nobody waits for the answer.
async fn answered(utility: &Arc<Utility>, request: Request, scripted: Option<Misbehaviour>) -> Answer {
    let late = scripted.as_ref().filter(|line| line.fault == Mishap::DelayBefore).map(Misbehaviour::delay);
    let Some(delay) = late else { return utility.answer(&request, scripted.as_ref()) };
    let utility = Arc::clone(utility);
    let queued = actix_web::rt::spawn(async move {
        tokio::time::sleep(delay).await;
        utility.answer(&request, scripted.as_ref())
    });
    queued.await.unwrap_or(Answer::Silence)
}

fn unidentified(why: &str, soap: Soap) -> HttpResponse {
    HttpResponse::InternalServerError()
        .content_type("text/xml; charset=utf-8")
        .body(render_unidentified(why, soap))
}

fn mentions_gzip(http: &HttpRequest, header: &HeaderName) -> bool {
    let value = http.headers().get(header).and_then(|value| value.to_str().ok());
    value.is_some_and(|encodings| encodings.contains("gzip"))
}
