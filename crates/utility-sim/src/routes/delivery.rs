//! Putting an answer on the wire, well or badly.

use actix_web::{HttpResponse, HttpResponseBuilder, http::StatusCode, web::Bytes};

use super::broken_body::BrokenBody;
use crate::{answer::Answer, swap::SwapDesk};

const OVERSIZED: usize = 10 * 1024 * 1024;

/// How one client's messages are written.
pub(super) trait Wire<M> {
    const CONTENT_TYPE: &'static str;
    /// Bytes that begin like a message and are none.
    const GARBAGE: &'static str;

    fn status(&self, message: &M) -> StatusCode;

    fn bytes(&self, message: &M) -> Vec<u8>;

    /// Sends the bytes, in whatever encoding the client likes.
    fn send(&self, response: HttpResponseBuilder, bytes: Vec<u8>) -> HttpResponse;
}

/// Sends an answer as it is to be sent.
pub(super) async fn deliver<M, W: Wire<M>>(wire: &W, desk: &SwapDesk<M>, answer: Answer<M>) -> HttpResponse {
    match answer {
        Answer::Silence => HttpResponse::Ok().body(BrokenBody::nothing()),
        Answer::Reply(response) => {
            if !response.after.is_zero() {
                tokio::time::sleep(response.after).await;
            }
            let message = match response.swap {
                Some(patience) => desk.exchange(response.message, patience).await,
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
