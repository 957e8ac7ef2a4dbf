//! A text that is the same for all clients until the program changes. Its entity tag avoids sending it twice.

use std::{
    convert::Infallible,
    hash::{DefaultHasher, Hash, Hasher},
    pin::Pin,
    task::{Context, Poll},
};

use actix_web::{
    HttpRequest, HttpResponse,
    body::{BodySize, MessageBody},
    http::header::{CACHE_CONTROL, ContentEncoding, ETAG, EntityTag, Header, IF_NONE_MATCH, IfNoneMatch},
    web::Bytes,
};

/// At most so many bytes of a text are copied for a connection at a time. Otherwise a large text would be held whole
/// for each client that does not read it.
const SLICE_BYTES: usize = 16 * 1_024;

/// The text, its content type, and the name of this version.
#[derive(Clone, Debug)]
pub struct Document {
    content_type: &'static str,
    body: Bytes,
    version: EntityTag,
    is_packed: bool,
}

impl Document {
    /// The version's name is a hash of the text.
    pub fn new(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        let version = EntityTag::new_strong(format!("{:016x}", hasher.finish()));
        Self { content_type, body, version, is_packed: false }
    }

    /// Marks the text as compressed with gzip.
    #[must_use]
    pub fn packed(mut self) -> Self {
        self.is_packed = true;
        self
    }

    /// The text, or 304 if the caller has it already (RFC 9110, section 13.1.2).
    pub fn answer(&self, request: &HttpRequest) -> HttpResponse {
        let is_known = request.headers().contains_key(IF_NONE_MATCH)
            && IfNoneMatch::parse(request).is_ok_and(|known| match known {
                IfNoneMatch::Any => true,
                IfNoneMatch::Items(versions) => versions.iter().any(|version| version.weak_eq(&self.version)),
            });
        let mut answer = if is_known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
        answer
            .insert_header((ETAG, self.version.to_string()))
            .insert_header((CACHE_CONTROL, "public, max-age=300"));
        if is_known {
            return answer.finish();
        }
        if self.is_packed {
            answer.insert_header(ContentEncoding::Gzip);
        }
        answer.content_type(self.content_type).body(Slices(self.body.clone()))
    }
}

/// A text that is sent in slices.
struct Slices(Bytes);

impl MessageBody for Slices {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(u64::try_from(self.0.len()).unwrap_or(u64::MAX))
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let length = self.0.len().min(SLICE_BYTES);
        let slice = (length > 0).then(|| self.0.split_to(length));
        Poll::Ready(slice.map(Ok))
    }
}
