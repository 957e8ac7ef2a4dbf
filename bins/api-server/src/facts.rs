//! What the documentation says about the settings of this server.

use api_docs::ServerFacts;
use identity::IdentitySettings;
use vending::VendingSettings;
use web::WebSettings;

/// The numbers that integrators need.
pub fn facts(web: &WebSettings, identity: &IdentitySettings, vending: &VendingSettings) -> ServerFacts {
    ServerFacts {
        public_url: web.public_url.clone(),
        time_zone: web.time_zone.clone(),
        access_lifetime_s: identity.access_lifetime_s,
        refresh_idle_lifetime_s: identity.refresh_idle_lifetime_s,
        family_lifetime_s: identity.family_lifetime_s,
        client: web.limits.client,
        login: web.limits.login,
        refresh: web.limits.refresh,
        body_bytes_max: web.body_bytes_max,
        answer_within_ms: vending.provider_timeout_ms.saturating_add(vending.patience_ms),
        reference_rest_ms: vending.reference_rest_ms,
    }
}
