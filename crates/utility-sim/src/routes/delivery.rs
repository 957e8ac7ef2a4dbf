//! Putting an answer on the wire, well or badly.

use std::io::{Read, Write};

use actix_web::{HttpResponse, HttpResponseBuilder, http::header::ContentEncoding, web::Bytes};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};

use super::broken_body::BrokenBody;
use crate::{
    swap::SwapDesk,
    utility::Answer,
    xmlvend::{Message, Reply, Soap, Style, render},
};

const XML: &str = "text/xml; charset=utf-8";
/// Larger than any request of the protocol.
const REQUEST_MAX: u64 = 256 * 1024;
const OVERSIZED: usize = 10 * 1024 * 1024;

/// How one client wants its answer.
pub(super) struct Delivery<'a> {
    pub(super) soap: Soap,
    pub(super) gzip: bool,
    pub(super) swap_desk: &'a SwapDesk,
}

impl Delivery<'_> {
    pub(super) async fn deliver(&self, answer: Answer) -> HttpResponse {
        match answer {
            Answer::Silence => HttpResponse::Ok().body(BrokenBody::nothing()),
            Answer::Reply(response) => {
                if !response.after.is_zero() {
                    tokio::time::sleep(response.after).await;
                }
                let message = match response.swap {
                    Some(patience) => self.swap_desk.exchange(response.message, patience).await,
                    None => response.message,
                };
                self.whole(&message, response.style)
            }
            Answer::Torn(message) => {
                let bytes = Bytes::from(render(&message, self.soap, Style::default()));
                status_of(&message).content_type(XML).body(BrokenBody::half_of(&bytes))
            }
            Answer::Garbage => HttpResponse::Ok().content_type(XML).body("<soap:Envelope <<< \u{1} not XML"),
            Answer::Oversized => HttpResponse::Ok().content_type(XML).body(vec![b' '; OVERSIZED]),
            Answer::ServerError => {
                let page = "<html><body>Internal Server Error</body></html>";
                HttpResponse::InternalServerError().content_type("text/html").body(page)
            }
        }
    }

    fn whole(&self, message: &Message, style: Style) -> HttpResponse {
        let bytes = render(message, self.soap, style);
        let mut response = status_of(message);
        response.content_type(XML);
        if self.gzip {
            response.insert_header(ContentEncoding::Gzip).body(zipped(&bytes))
        } else {
            response.body(bytes)
        }
    }
}

/// The bytes that were compressed, unless they are too many or were not.
pub(super) fn unzipped(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    GzDecoder::new(bytes).take(REQUEST_MAX).read_to_end(&mut plain).ok().map(|_length| plain)
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("writing into memory cannot fail")
}

/// A SOAP fault travels as HTTP 500, whatever it says.
fn status_of(message: &Message) -> HttpResponseBuilder {
    if matches!(message.reply, Reply::Fault(_)) {
        HttpResponse::InternalServerError()
    } else {
        HttpResponse::Ok()
    }
}
