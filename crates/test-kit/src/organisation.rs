//! The usual organisation: how it is entered, its users, and how one of them logs in.

use identity::{
    AuditContext, ClientCredentials, Environment, Identity, IdentitySettings, IssuedTokens, LoginCredentials,
    Onboarding, Role, UserDetails,
};
use purchase::{AccessTokenId, Authority, ClientId, OrganisationId, UserId};

/// The password of every user.
pub const PASSWORD: &str = "correct horse battery";

/// The operator who enters everything, and the reason.
pub fn act() -> AuditContext {
    AuditContext { actor: "naledi".to_owned(), reason: "contract 17".to_owned() }
}

/// A user with a phone number and without an address.
pub fn user(username: &str, role: Role) -> UserDetails {
    UserDetails {
        username: username.to_owned(),
        password: PASSWORD.into(),
        full_name: "Till One".to_owned(),
        phone_number: Some("26771000000".to_owned()),
        email: None,
        role,
    }
}

/// Settings with which wrong credentials are refused at once, because most tests cannot wait for the minimum time.
pub fn identity_settings(environment: Environment) -> IdentitySettings {
    let mut settings = IdentitySettings::new(environment, "a1".repeat(32).into());
    settings.refusal_floor_ms = 0;
    settings
}

/// Enters an organisation with one client and one user. Returns the client with its secret.
pub async fn enter(
    onboarding: &Onboarding,
    code: &str,
    name: &str,
    environment: Environment,
    user: UserDetails,
) -> ClientCredentials {
    onboarding.create_organisation(code, name, environment, act()).await.expect("an organisation is entered");
    let client = onboarding.create_client(code, "tills", act()).await.expect("a client is entered");
    onboarding.create_user(code, user, act()).await.expect("a user is entered");
    client
}

/// The right credentials of a user of the organisation with this code.
pub fn credentials(code: &str, client: &ClientCredentials, username: &str) -> LoginCredentials {
    LoginCredentials {
        client_id: client.client_id.clone(),
        client_secret: client.secret.expose().into(),
        organisation_code: code.to_owned(),
        username: username.to_owned(),
        password: PASSWORD.into(),
    }
}

/// Logs a user in. Returns the authority of the purchases that it makes, and its tokens.
pub async fn log_in(identity: &Identity, credentials: LoginCredentials) -> (Authority, IssuedTokens) {
    let tokens = identity.login(credentials).await.expect("the right credentials are accepted");
    let caller = identity.authenticate(tokens.access_token.expose()).await.expect("a new token has a caller");
    let authority = Authority {
        organisation: OrganisationId(caller.organisation.id),
        client: ClientId(caller.client_id),
        user: UserId(caller.user.id),
        access_token: AccessTokenId(caller.access_token_id),
    };
    (authority, tokens)
}
