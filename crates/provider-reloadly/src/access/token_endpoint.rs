//! The client of the token endpoint: OAuth 2.0 client credentials (RFC 6749, section 4.4).

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use oauth2::basic::BasicClient;
use oauth2::url::form_urlencoded;
use oauth2::{
    AsyncHttpClient, AuthType, ClientId, ClientSecret, EndpointNotSet, EndpointSet, HttpRequest,
    HttpResponse, RequestTokenError, TokenResponse, TokenUrl, http,
};
use provider::Gate;
use provider_http::header::{self, HeaderMap, HeaderValue};
use provider_http::{NoReply, Outgoing, Transport, Url};

use crate::access::NoAccess;
use crate::settings::{ReloadlySettings, SettingsError};

/// The lifetime of a token if the answer does not state it (RFC 6749, section 5.1, leaves that open).
const DEFAULT_LIFETIME: Duration = Duration::from_mins(5);

type Client = BasicClient<EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointSet>;

/// The vendor's token endpoint, with our credentials.
pub(super) struct TokenEndpoint {
    client: Client,
    url: Url,
    audience: String,
}

/// A token and its lifetime.
pub(super) struct Grant {
    pub(super) header: HeaderValue,
    pub(super) lifetime: Duration,
}

impl TokenEndpoint {
    pub(super) fn new(settings: &ReloadlySettings) -> Result<Self, SettingsError> {
        let (id, secret) = settings.credentials()?;
        let url = settings.token_url()?;
        let client = BasicClient::new(ClientId::new(id.to_owned()))
            .set_client_secret(ClientSecret::new(secret.to_owned()))
            .set_auth_type(AuthType::RequestBody)
            .set_token_uri(TokenUrl::from_url(url.clone()));
        Ok(Self { client, url, audience: settings.audience()?.to_owned() })
    }

    /// Requests a token: one request, no retry.
    pub(super) async fn ask(&self, transport: &Transport, within: Duration) -> Result<Grant, NoAccess> {
        let carrier = Carrier { url: &self.url, transport, within };
        let request = self.client.exchange_client_credentials().add_extra_param("audience", &self.audience);
        let answer = request.request_async(&carrier).await.map_err(|error| match error {
            RequestTokenError::Request(no_access) => no_access,
            RequestTokenError::ServerResponse(_) => NoAccess::Denied,
            RequestTokenError::Parse(..) | RequestTokenError::Other(_) => NoAccess::Unreadable,
        })?;
        let bearer = format!("Bearer {}", answer.access_token().secret());
        let mut header = HeaderValue::from_str(&bearer).map_err(|_not_a_header| NoAccess::Unreadable)?;
        header.set_sensitive(true);
        Ok(Grant { header, lifetime: answer.expires_in().unwrap_or(DEFAULT_LIFETIME) })
    }
}

/// Sends the library's request in the format of this vendor. RFC 6749 and the library put the parameters into a form.
/// This vendor needs the same parameters in a JSON object.
struct Carrier<'a> {
    url: &'a Url,
    transport: &'a Transport,
    within: Duration,
}

impl<'c> AsyncHttpClient<'c> for Carrier<'_> {
    type Error = NoAccess;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, NoAccess>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.carry(request))
    }
}

impl Carrier<'_> {
    async fn carry(&self, request: HttpRequest) -> Result<HttpResponse, NoAccess> {
        let parameters: BTreeMap<_, _> = form_urlencoded::parse(request.body()).collect();
        let body = serde_json::to_vec(&parameters).map_err(|_not_texts| NoAccess::Unreadable)?;
        let json = HeaderValue::from_static("application/json");
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, json.clone()), (header::ACCEPT, json)]);
        let outgoing = Outgoing { url: self.url.clone(), headers, body };
        let reply = self.transport.post(outgoing, &Gate::while_true(|| true), self.within).await;
        let reply = reply.map_err(NoAccess::NoReply)?;
        match reply.status {
            200 => http::Response::builder().body(reply.body).map_err(|_no_headers| NoAccess::Unreadable),
            400 | 401 | 403 => Err(NoAccess::Denied),
            500.. => Err(NoAccess::NoReply(NoReply::Unreadable)),
            _ => Err(NoAccess::Unreadable),
        }
    }
}

/// Shows only the address: no secret, and nothing that the library would print.
impl fmt::Debug for TokenEndpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "TokenEndpoint({})", self.url)
    }
}
