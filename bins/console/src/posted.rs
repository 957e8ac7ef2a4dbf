//! What a browser sends: who is signed in, and the fields of a form.

use std::{collections::HashMap, future::Future, pin::Pin, sync::Arc};

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    web::{Data, Form},
};

use secrecy::SecretString;

use crate::{page_error::PageError, server::Shared, sessions::OperatorSession};

/// The person who is signed in.
#[derive(Clone)]
pub(crate) struct SignedIn(pub(crate) Arc<OperatorSession>);

/// A form of the person who is signed in, which was made for this session.
pub(crate) struct Posted {
    pub(crate) session: Arc<OperatorSession>,
    pub(crate) cookie: SecretString,
    fields: HashMap<String, String>,
}

impl Posted {
    /// What was typed into a field. Nothing, if the form does not have it.
    pub(crate) fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    /// Whether the person has seen what would be done, and wants it.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.field("step") == "do"
    }

    /// The fields, without those of the session and the step.
    pub(crate) fn typed(&self) -> impl Iterator<Item = (&str, &str)> {
        let typed = self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        typed.filter(|(name, _)| !["form_token", "step"].contains(name))
    }
}

fn session(request: &HttpRequest) -> Result<(Arc<OperatorSession>, SecretString), PageError> {
    let shared = request.app_data::<Data<Shared>>().ok_or(PageError::SignedOut)?;
    let cookie = shared.cookie.of(request).ok_or(PageError::SignedOut)?;
    let session = shared.sessions.find(&cookie).ok_or(PageError::SignedOut)?;
    Ok((session, cookie))
}

impl FromRequest for SignedIn {
    type Error = PageError;
    type Future = std::future::Ready<Result<Self, PageError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        std::future::ready(session(request).map(|(session, _cookie)| Self(session)))
    }
}

impl FromRequest for Posted {
    type Error = PageError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, PageError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let session = session(request);
        let form = Form::<HashMap<String, String>>::from_request(request, payload);
        Box::pin(async move {
            let (session, cookie) = session?;
            let fields = form.await.map_err(|_unreadable| PageError::BadForm)?.into_inner();
            if !fields.get("form_token").is_some_and(|token| session.made(token)) {
                return Err(PageError::ForeignForm);
            }
            Ok(Self { session, cookie, fields })
        })
    }
}
