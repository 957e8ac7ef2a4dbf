//! Sends an answer on the wire, correctly or with a fault.

use actix_web::{HttpResponse, HttpResponseBuilder, http::StatusCode, web::Bytes};

use super::broken_body::BrokenBody;
use crate::{answer::Answer, swap::Swap};

const OVERSIZED: usize = 10 * 1024 * 1024;

/// How messages are written for one client.
pub(super) trait Wire<M> {
    const CONTENT_TYPE: &'static str;
    /// Bytes that begin like a message and are not one.
    const GARBAGE: &'static str;

    fn status(&self, message: &M) -> StatusCode;

    fn bytes(&self, message: &M) -> Vec<u8>;

    /// Sends the bytes in an encoding that the client accepts.
    fn send(&self, response: HttpResponseBuilder, bytes: Vec<u8>) -> HttpResponse;
}

/// Sends an answer in its manner.
pub(super) async fn deliver<M, W: Wire<M>>(wire: &W, swap: &Swap<M>, answer: Answer<M>) -> HttpResponse {
    match answer {
        Answer::Silence => HttpResponse::Ok().body(BrokenBody::nothing()),
        Answer::Reply(response) => {
            if !response.after.is_zero() {
                tokio::time::sleep(response.after).await;
            }
            let message = match response.swap {
                Some(patience) => swap.exchange(response.message, patience).await,
                None => response.message,
            };
            wire.send(headed(wire, &message), wire.bytes(&message))
        }
        Answer::Torn(message) => {
            let bytes = Bytes::from(wire.bytes(&message));
            headed(wire, &message).body(BrokenBody::half_of(&bytes))
        }
        Answer::Garbage => HttpResponse::Ok().content_type(W::CONTENT_TYPE).body(W::GARBAGE),
        Answer::Oversized => HttpResponse::Ok().content_type(W::CONTENT_TYPE).body(vec![b' '; OVERSIZED]),
        Answer::ServerError => {
            let page = "<html><body>Internal Server Error</body></html>";
            HttpResponse::InternalServerError().content_type("text/html").body(page)
        }
    }
}

fn headed<M, W: Wire<M>>(wire: &W, message: &M) -> HttpResponseBuilder {
    let mut response = HttpResponse::build(wire.status(message));
    response.content_type(W::CONTENT_TYPE);
    response
}
