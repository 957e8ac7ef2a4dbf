//! What a browser sends: who is signed in, and the fields of a form.

use std::{collections::HashMap, future::Future, pin::Pin, sync::Arc};

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    web::{Data, Form},
};
use secrecy::SecretString;
use sha2::{Digest, Sha256};

use crate::{
    page_error::{Fault, PageError},
    reader::Reader,
    server::Shared,
    sessions::{Key, OperatorSession},
    translator::Translator,
};

/// A request of a person who is signed in.
pub(crate) struct Visit {
    pub(crate) session: Arc<OperatorSession>,
    pub(crate) reader: Reader,
}

/// A form of the person who is signed in, which was made for this session.
pub(crate) struct Posted {
    pub(crate) visit: Visit,
    pub(crate) cookie: SecretString,
    path: String,
    fields: HashMap<String, String>,
}

impl Visit {
    /// The texts of the page.
    pub(crate) const fn translator(&self) -> Translator {
        self.reader.translator
    }

    pub(crate) fn error(&self, fault: Fault) -> PageError {
        PageError::new(self.reader.clone(), fault)
    }

    /// Whether the roles of the person allow this command, named as `provider pause`. A form that would be refused is not shown.
    pub(crate) fn may(&self, command: &str) -> bool {
        self.session.commands.may(command)
    }
}

impl Posted {
    /// What was typed into a field. Nothing, if the form does not have it.
    pub(crate) fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    /// Whether the act is to be done. The person must have seen the rehearsal of exactly this act in this session.
    pub(crate) fn is_confirmed(&self) -> Result<bool, PageError> {
        if self.field("step") != "do" {
            return Ok(false);
        }
        if self.visit.session.takes_rehearsal(&self.act()) {
            return Ok(true);
        }
        Err(self.visit.error(Fault::NotRehearsed))
    }

    /// The person sees the rehearsal.
    pub(crate) fn is_rehearsed(&self) {
        self.visit.session.rehearses(self.act());
    }

    /// The outcome of the act. What was refused may be tried again without another rehearsal.
    pub(crate) fn came_to<T>(&self, outcome: Result<T, PageError>) -> Result<T, PageError> {
        if outcome.is_err() {
            self.is_rehearsed();
        }
        outcome
    }

    /// The digest of the form's address and of what was typed. A length before each text keeps them apart.
    fn act(&self) -> Key {
        let mut typed: Vec<_> = self.typed().collect();
        typed.sort_unstable();
        let texts = std::iter::once(self.path.as_str()).chain(typed.into_iter().flat_map(<[&str; 2]>::from));
        let mut digest = Sha256::new();
        for text in texts {
            digest.update(text.len().to_be_bytes());
            digest.update(text);
        }
        digest.finalize().into()
    }

    /// The fields, without those of the session and the step.
    pub(crate) fn typed(&self) -> impl Iterator<Item = (&str, &str)> {
        let typed = self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        typed.filter(|(name, _)| !["form_token", "step"].contains(name))
    }
}

fn visit(request: &HttpRequest) -> Result<(Visit, SecretString), PageError> {
    let reader = Reader::of(request);
    match session(request) {
        Some((session, cookie)) => Ok((Visit { session, reader }, cookie)),
        None => Err(PageError::new(reader, Fault::SignedOut)),
    }
}

fn session(request: &HttpRequest) -> Option<(Arc<OperatorSession>, SecretString)> {
    let shared = request.app_data::<Data<Shared>>()?;
    let cookie = shared.cookie.of(request)?;
    let session = shared.sessions.find(&cookie)?;
    Some((session, cookie))
}

impl FromRequest for Reader {
    type Error = std::convert::Infallible;
    type Future = std::future::Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        std::future::ready(Ok(Self::of(request)))
    }
}

impl FromRequest for Visit {
    type Error = PageError;
    type Future = std::future::Ready<Result<Self, PageError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        std::future::ready(visit(request).map(|(visit, _cookie)| visit))
    }
}

impl FromRequest for Posted {
    type Error = PageError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, PageError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (visit, path) = (visit(request), request.path().to_owned());
        let form = Form::<HashMap<String, String>>::from_request(request, payload);
        Box::pin(async move {
            let (visit, cookie) = visit?;
            let fields = form.await.map_err(|_unreadable| visit.error(Fault::BadForm))?.into_inner();
            if !fields.get("form_token").is_some_and(|token| visit.session.made(token)) {
                return Err(visit.error(Fault::ForeignForm));
            }
            Ok(Self { visit, cookie, path, fields })
        })
    }
}
