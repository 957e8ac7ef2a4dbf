//! Signing in with an account at an OpenID provider: the authorization code flow with PKCE (OpenID Connect Core 1.0, RFC 7636).
//!
//! It ends in an identity, and decides nothing further. Which login that is, the database says; and whether the console may connect
//! as that login, its server.

mod attempts;
mod description;
mod fault;
mod http;

use std::time::Duration;

use clock::SharedClock;
use directory::Identity;
use openidconnect::{
    AuthType, AuthorizationCode, ClientId, ClientSecret, CsrfToken, EndpointMaybeSet, EndpointNotSet,
    EndpointSet, IssuerUrl, Nonce, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, TokenResponse,
    core::{
        CoreAuthenticationFlow, CoreClient, CoreClientAuthMethod, CoreIdToken, CoreIdTokenVerifier,
        CoreJwsSigningAlgorithm, CoreProviderMetadata,
    },
};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::settings::OpenIdSettings;

pub(crate) use attempts::ATTEMPT_LENGTH_MAX;
pub(crate) use fault::{OpenIdError, SignInError};

use attempts::{Attempt, Attempts};
use description::{Age, Description};
use fault::{ProviderFault, TokenFault, declined_because};
use http::Http;

/// A client of a provider whose description is known.
type Client = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// The signatures that are accepted, whatever a provider offers. With a shared secret, anyone who reads the settings of the
/// console could sign.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// How far the provider's clock may be ahead of ours.
const CLOCKS_APART_MAX: Duration = Duration::from_mins(5);

/// An OpenID provider, and the sign-ins that wait for it.
pub(crate) struct OpenId {
    client_id: ClientId,
    client_secret: SecretString,
    issuer: IssuerUrl,
    redirect: RedirectUrl,
    description: Description,
    attempts: Attempts,
    http: Http,
    clock: SharedClock,
}

/// Where the person goes to sign in, and what binds the sign-in to the browser.
pub(crate) struct Begun {
    pub(crate) address: Url,
    pub(crate) cookie: SecretString,
}

/// What the provider sends back with the browser. Nothing of it is believed.
#[derive(Default)]
pub(crate) struct Answer<'a> {
    pub(crate) state: &'a str,
    pub(crate) code: &'a str,
    /// Why it has not signed the person in.
    pub(crate) error: &'a str,
    /// The provider, if it says so (RFC 9207).
    pub(crate) issuer: Option<&'a str>,
}

impl OpenId {
    /// Prepares the client. Sends no request yet. `public_url` is where browsers reach the console.
    ///
    /// # Errors
    /// If an address cannot be used, or if there is no HTTP client.
    pub(crate) fn new(
        settings: OpenIdSettings,
        public_url: &str,
        clock: SharedClock,
    ) -> Result<Self, OpenIdError> {
        let issuer = IssuerUrl::new(settings.issuer)?;
        let http = Http::new()?;
        Ok(Self {
            client_id: ClientId::new(settings.client_id),
            client_secret: settings.client_secret,
            redirect: RedirectUrl::new(format!("{public_url}/sign-in/openid/done"))?,
            description: Description::new(issuer.clone(), http.clone(), clock.clone()),
            issuer,
            attempts: Attempts::new(clock.clone()),
            http,
            clock,
        })
    }

    /// Begins a sign-in.
    pub(crate) async fn begin(&self) -> Result<Begun, SignInError> {
        let provider = self.description.read(Age::Usual).await?;
        let attempt = Attempt::new()?;
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&attempt.verifier);
        let (state, nonce) = (CsrfToken::new(attempt.state.clone()), attempt.nonce.clone());
        let client = self.client(&provider);
        let flow = CoreAuthenticationFlow::AuthorizationCode;
        let request = client.authorize_url(flow, || state, || nonce).set_pkce_challenge(challenge);
        let (address, _state, _nonce) = request.url();
        Ok(Begun { address, cookie: self.attempts.begin(attempt)? })
    }

    /// Finishes the sign-in that the browser with this cookie has begun. Returns whom the provider has signed in.
    pub(crate) async fn finish(
        &self,
        cookie: Option<SecretString>,
        answer: Answer<'_>,
    ) -> Result<Identity, SignInError> {
        let attempt = cookie.and_then(|cookie| self.attempts.take(&cookie, answer.state));
        let Attempt { nonce, verifier, .. } = attempt.ok_or(SignInError::NotBegun)?;
        if answer.issuer.is_some_and(|issuer| issuer != self.issuer.as_str()) {
            return Err(TokenFault::Issuer.into());
        }
        if !answer.error.is_empty() || answer.code.is_empty() {
            return Err(SignInError::Declined(declined_because(answer.error)));
        }
        let provider = self.description.read(Age::Usual).await?;
        let token = self.exchange(&provider, answer.code, verifier).await?;
        match self.vouched(&provider, &token, &nonce) {
            // The provider may have new keys since its description was read.
            Err(TokenFault::UnknownKey) => {
                let provider = self.description.read(Age::Newest).await?;
                Ok(self.vouched(&provider, &token, &nonce)?)
            }
            outcome => Ok(outcome?),
        }
    }

    /// The ID token for a code.
    async fn exchange(
        &self,
        provider: &CoreProviderMetadata,
        code: &str,
        verifier: PkceCodeVerifier,
    ) -> Result<CoreIdToken, SignInError> {
        let client = self.client(provider);
        let code = AuthorizationCode::new(code.to_owned());
        let request = client.exchange_code(code).map_err(|_no_endpoint| ProviderFault::NoTokenEndpoint)?;
        let answer = request.set_pkce_verifier(verifier).request_async(&self.http).await;
        let answer = answer.map_err(|error| ProviderFault::of_exchange(&error))?;
        Ok(answer.id_token().cloned().ok_or(TokenFault::Absent)?)
    }

    /// Whom the ID token names, if it is the provider's, for the console, of this sign-in and still valid (OpenID Connect Core 1.0,
    /// section 3.1.3.7).
    fn vouched(
        &self,
        provider: &CoreProviderMetadata,
        token: &CoreIdToken,
        nonce: &Nonce,
    ) -> Result<Identity, TokenFault> {
        let now = self.clock.now();
        let keys = provider.jwks().clone();
        // A public client's, because signatures with the client's secret are not accepted.
        let verifier =
            CoreIdTokenVerifier::new_public_client(self.client_id.clone(), self.issuer.clone(), keys)
                .set_allowed_algs(ALGORITHMS)
                .set_time_fn(move || now)
                .set_issue_time_verifier_fn(move |issued| {
                    let is_past = issued <= now + CLOCKS_APART_MAX;
                    is_past.then_some(()).ok_or_else(|| "issued in the future".to_owned())
                });
        let claims = token.claims(&verifier, nonce).map_err(|error| TokenFault::of(&error))?;
        // The library leaves it to us.
        if claims.authorized_party().is_some_and(|party| *party != self.client_id) {
            return Err(TokenFault::Audience);
        }
        Ok(Identity {
            issuer: claims.issuer().as_str().to_owned(),
            subject: claims.subject().as_str().to_owned(),
        })
    }

    fn client(&self, provider: &CoreProviderMetadata) -> Client {
        let secret = ClientSecret::new(self.client_secret.expose_secret().to_owned());
        let client =
            CoreClient::from_provider_metadata(provider.clone(), self.client_id.clone(), Some(secret));
        client.set_redirect_uri(self.redirect.clone()).set_auth_type(authentication(provider))
    }
}

/// How the console says who it is. A provider that lists nothing takes the header (OpenID Connect Discovery 1.0, section 3).
fn authentication(provider: &CoreProviderMetadata) -> AuthType {
    let takes = |method| {
        let listed = provider.token_endpoint_auth_methods_supported();
        listed.is_some_and(|listed| listed.contains(&method))
    };
    if takes(CoreClientAuthMethod::ClientSecretPost) && !takes(CoreClientAuthMethod::ClientSecretBasic) {
        AuthType::RequestBody
    } else {
        AuthType::BasicAuth
    }
}
