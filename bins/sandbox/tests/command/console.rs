//! The operators' console of a sandbox.

use reqwest::{
    Client,
    header::{CONTENT_TYPE, COOKIE, SET_COOKIE},
};
use rustix::process::{Signal, kill_process};
use tokio::runtime::Runtime;

use crate::serving::Serving;

#[test]
fn the_printed_link_signs_in_to_the_console_and_a_restart_signs_out() {
    let serving = Serving::start("console");
    let console = serving.info["console_url"].as_str().unwrap().to_owned();
    let begin = "The operators' console: ";
    let link = serving.said_first.iter().find_map(|line| line.strip_prefix(begin)).unwrap();
    let secret = link.strip_prefix(&format!("{console}/sign-in?link=")).unwrap();
    Runtime::new().unwrap().block_on(async {
        let client = sandbox::http_client().unwrap();
        let (status, cookie) = signs_in(&client, &console, secret).await;
        assert_eq!(status, 303);
        let overview = client.get(&console).header(COOKIE, cookie).send().await.unwrap();
        let page = overview.text().await.unwrap();
        assert!(page.contains("vendgate_operator_login") && page.contains("/providers/BPC"), "{page}");
        assert_eq!(signs_in(&client, &console, secret).await.0, 422);

        kill_process(serving.child("console"), Signal::KILL).unwrap();
        assert!(serving.said().starts_with("console has ended (signal: 9 (SIGKILL); see "));
        assert!(serving.said().starts_with("console is up again"));
        assert_eq!(client.get(&console).send().await.unwrap().status(), 401);
    });
    // What it prints for the next link, and who approves.
    for (person, login) in [
        ("A colleague, who approves,", "vendgate_colleague_login"),
        ("A person at the support desk", "vendgate_support_login"),
    ] {
        let sentence = format!("{person} has the settings ");
        let settings = serving.said_first.iter().find_map(|line| line.strip_prefix(sentence.as_str()));
        let settings = std::fs::read_to_string(settings.unwrap()).unwrap();
        assert!(settings.contains(login), "{settings}");
    }
    let settings = std::fs::read_to_string(serving.directory.join("vendctl.toml")).unwrap();
    assert!(settings.contains(&format!("console_url = \"{console}\"")), "{settings}");
}

/// Presses the button of the page that a link opens. Returns the status, and the cookie without its attributes.
async fn signs_in(client: &Client, console: &str, secret: &str) -> (u16, String) {
    let form = client.post(format!("{console}/sign-in")).body(format!("link={secret}"));
    let answer = form.header(CONTENT_TYPE, "application/x-www-form-urlencoded").send().await.unwrap();
    let cookie = answer.headers().get(SET_COOKIE).map(|cookie| cookie.to_str().unwrap().to_owned());
    (answer.status().as_u16(), cookie.unwrap_or_default().split(';').next().unwrap_or_default().to_owned())
}
