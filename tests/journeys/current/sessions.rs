//! Login, refresh and the caller's own user.

use acceptance::surface::Surface;
use sandbox::MerchantPlan;
use serde_json::Value;

use super::page::{Page, Question};
use crate::{env::env, merchant::Merchant};

pub async fn page() -> Page {
    let mut page = Page::new("sessions");
    let plan = MerchantPlan::staging("FROZEN-SESSIONS", "A frozen shop");
    let mut merchant = env().open_as(Surface::Current, plan).await;
    logins(&mut page, &mut merchant).await;
    page.keep("who one is, and one's accounts", Question::get(&merchant, "/auth/me")).await.expect(200);
    let viewer = MerchantPlan {
        role: identity::Role::Viewer,
        ..MerchantPlan::staging("FROZEN-VIEWER", "A shop that looks")
    };
    let viewer = env().open_as(Surface::Current, viewer).await;
    page.keep("a viewer", Question::get(&viewer, "/auth/me")).await.expect(200);
    page
}

async fn logins(page: &mut Page, merchant: &mut Merchant) {
    let login = |change: &dyn Fn(&mut Value)| {
        let mut body = serde_json::from_str(&merchant.login_body()).unwrap();
        change(&mut body);
        body.to_string()
    };
    let plain = login(&|_| {});
    let refused = [
        ("a password that is wrong", login(&|body| body["secret_pass"] = "0123456789abcdef".into())),
        ("no password", login(&|body| _ = body.as_object_mut().unwrap().remove("secret_pass"))),
        ("another grant", login(&|body| body["grant_type"] = "implicit".into())),
        ("a channel of the other surface", login(&|body| body["source_channel"] = "POS".into())),
    ];
    let session = page.keep("login", Question::post(merchant, "/auth/login", plain)).await.expect(200);
    for (title, body) in refused {
        assert!(page.keep(title, Question::post(merchant, "/auth/login", body)).await.status >= 400);
    }
    for channel in ["WEB", "SMART_APP", "USSD", "SMS_MO", "BATCH"] {
        let body = login(&|body| body["source_channel"] = channel.into());
        let answer = Question::post(merchant, "/auth/login", body).ask().await;
        assert_eq!(answer.status, 200, "{channel}");
    }
    session.str("/refresh_token").clone_into(&mut merchant.refresh_token);
    let refresh = merchant.refresh_body();
    page.keep("refresh", Question::post(merchant, "/auth/refresh", refresh)).await.expect(200);
    let unknown = merchant.refresh_body().replace(&merchant.refresh_token, "vg_test_rt_nobodys");
    page.keep("a refresh token that nobody has", Question::post(merchant, "/auth/refresh", unknown))
        .await
        .expect(401);
}
