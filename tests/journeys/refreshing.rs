//! The three ways to authenticate a client at refresh, on both surfaces.

use acceptance::surface::Surface;
use base64::{Engine, prelude::BASE64_STANDARD};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{env::env, merchant::Merchant, wire::Answer};

/// A merchant that sends its newest refresh token and no other credentials by default.
struct Client {
    merchant: Merchant,
    access_token: String,
    refresh_token: String,
}

impl Client {
    async fn open(surface: Surface) -> Self {
        let mut merchant = env().open_merchant_on(surface).await;
        let (access_token, refresh_token) = (merchant.access_token.clone(), merchant.refresh_token.clone());
        merchant.access_token.clear();
        Self { merchant, access_token, refresh_token }
    }

    fn basic(&self, secret: &str) -> String {
        format!(
            "Basic {}",
            BASE64_STANDARD.encode(format!("{}:{secret}", self.merchant.credentials.client_id))
        )
    }

    /// Refreshes with these fields besides the grant and the token, and with this header.
    async fn asks(&self, body: &Value, header: Option<&str>) -> Answer {
        let mut body = body.clone();
        body["grant_type"] = "refresh_token".into();
        body["refresh_token"] = self.refresh_token.as_str().into();
        let headers: Vec<(&str, &str)> = header.into_iter().map(|value| ("Authorization", value)).collect();
        self.merchant
            .send(Method::POST, self.merchant.surface.refresh(), Some(&body.to_string()), &headers)
            .await
    }

    /// Refreshes and expects success. The new tokens are used from now on.
    async fn refreshes(&mut self, body: &Value, header: Option<&str>) {
        let session = self.asks(body, header).await.expect(200);
        session.str("/access_token").clone_into(&mut self.access_token);
        session.str("/refresh_token").clone_into(&mut self.refresh_token);
    }
}

#[tokio::test]
async fn a_client_refreshes_by_body_by_http_basic_and_by_a_token_of_the_same_session() {
    for surface in Surface::ALL {
        let mut client = Client::open(surface).await;
        let (id, secret) = (
            client.merchant.credentials.client_id.clone(),
            client.merchant.credentials.client_secret.clone(),
        );
        client.refreshes(&json!({ "client_id": id, "client_secret": secret }), None).await;
        let basic = client.basic(&secret);
        client.refreshes(&json!({}), Some(&basic)).await;
        client.refreshes(&json!({ "client_id": id }), Some(&basic)).await;
        for named in [json!({}), json!({ "client_id": id })] {
            let bearer = format!("Bearer {}", client.access_token);
            client.refreshes(&named, Some(&bearer)).await;
        }
        // Credentials in the body take precedence over any header.
        let both = json!({ "client_id": id, "client_secret": secret });
        client.refreshes(&both, Some("Bearer vg_test_at_nobodys")).await;
    }
}

#[tokio::test]
async fn a_client_that_proves_nothing_gets_no_tokens_and_loses_none() {
    for surface in Surface::ALL {
        let (mut client, other) = (Client::open(surface).await, Client::open(surface).await);
        let basic = client.basic("vg_test_cs_guessed");
        let refused = client.asks(&json!({}), Some(&basic)).await;
        assert_eq!(refused.refusal(), (401, "invalid_credentials", None));
        assert!(refused.header("www-authenticate").unwrap().starts_with("Basic "), "{refused:?}");

        let own = client.basic(&client.merchant.credentials.client_secret);
        for (body, header) in [
            (json!({ "client_id": other.merchant.credentials.client_id }), own.clone()),
            (json!({}), "Basic !".to_owned()),
            (json!({}), format!("Bearer {}", other.access_token)),
            (json!({}), "Bearer vg_test_at_nobodys".to_owned()),
            (
                json!({ "client_id": other.merchant.credentials.client_id }),
                format!("Bearer {}", client.access_token),
            ),
        ] {
            let refused = client.asks(&body, Some(&header)).await;
            assert_eq!(refused.refusal(), (401, "invalid_credentials", None), "{header}");
        }
        for header in [None, Some("Digest x")] {
            let refused = client.asks(&json!({}), header).await;
            assert_eq!(refused.refusal(), (400, "missing_field", Some("client_id")), "{header:?}");
        }
        client.refreshes(&json!({}), Some(&own)).await;
    }
}
