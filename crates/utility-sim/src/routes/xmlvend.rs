//! `POST /xmlvend`.

use std::{
    io::{Read, Write},
    sync::Arc,
};

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    http::{
        StatusCode,
        header::{ACCEPT_ENCODING, CONTENT_ENCODING, ContentEncoding, HeaderName},
    },
    web::{Bytes, Data},
};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};

use super::{
    delivery::{Wire, deliver},
    queue::answered,
};
use crate::{
    refusal::Refusal,
    world::World,
    xmlvend::{Message, Reply, Request, Soap, Unreadable, render, render_unidentified},
};

const XML: &str = "text/xml; charset=utf-8";
/// Larger than any request of the protocol, in bytes.
const REQUEST_MAX: u64 = 256 * 1024;

pub(super) async fn xmlvend(world: Data<World>, http: HttpRequest, body: Bytes) -> HttpResponse {
    let _open = world.load.open();
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
            return deliver(&Envelope { soap, gzip }, &world.swap, answer).await;
        }
    };
    let envelope = Envelope { soap: request.soap, gzip };
    let scripted = world.utility.scripted(&world.script, &request);
    let utility = Arc::clone(&world.utility);
    let answer = answered(scripted, move |scripted| utility.answer(&request, scripted)).await;
    deliver(&envelope, &world.swap, answer).await
}

/// The wire format that one client requested.
struct Envelope {
    soap: Soap,
    gzip: bool,
}

impl Wire<Message> for Envelope {
    const CONTENT_TYPE: &'static str = XML;
    const GARBAGE: &'static str = "<soap:Envelope <<< \u{1} not XML";

    /// A SOAP fault is sent as HTTP 500, whatever its text.
    fn status(&self, message: &Message) -> StatusCode {
        let is_fault = matches!(message.reply, Reply::Fault(_));
        if is_fault { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::OK }
    }

    fn bytes(&self, message: &Message) -> Vec<u8> {
        render(message, self.soap)
    }

    fn send(&self, mut response: HttpResponseBuilder, bytes: Vec<u8>) -> HttpResponse {
        if self.gzip {
            response.insert_header(ContentEncoding::Gzip).body(zipped(&bytes))
        } else {
            response.body(bytes)
        }
    }
}

fn unidentified(why: &str, soap: Soap) -> HttpResponse {
    HttpResponse::InternalServerError().content_type(XML).body(render_unidentified(why, soap))
}

fn mentions_gzip(http: &HttpRequest, header: &HeaderName) -> bool {
    let value = http.headers().get(header).and_then(|value| value.to_str().ok());
    value.is_some_and(|encodings| encodings.contains("gzip"))
}

/// The decompressed bytes. `None` if they are too many or were not compressed.
fn unzipped(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    GzDecoder::new(bytes).take(REQUEST_MAX).read_to_end(&mut plain).ok().map(|_length| plain)
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("writing into memory cannot fail")
}
