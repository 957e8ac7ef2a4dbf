//! What an operator can observe of the programs: readiness, metrics and logs. The logs must not contain secrets.

mod canaries;
mod files;
pub mod numbers;
mod watched;

use std::{fs, time::Duration};

pub use numbers::Numbers;
use numbers::ask;
use reqwest::Method;
use rustix::process::{Pid, kill_process};
use sandbox::{Listener, Process, Sandbox, Signal, http_client};
use serde_json::{Value, json};
use watched::{Watched, undisturbed, watched};

use crate::{
    env::{env, eventually},
    merchant::Merchant,
    simulator::SimulatorClient,
};

/// Five purchases with different outcomes: a plain success, a lost reply that retry resolves, a busy provider, an
/// exhausted provider credit, and a refusal before any money is held.
async fn buy_with_every_outcome(merchant: &Merchant) {
    let simulator = SimulatorClient::new();
    let [plain, lost, busy] = [env().meter(), env().meter(), env().meter()];
    merchant.confirm(&merchant.order(&plain)).await.expect(200);
    simulator.will(&lost, &json!({ "fault": "drop_after" })).await;
    merchant.confirm(&merchant.order(&lost).reference("morning-1")).await.expect(504);
    merchant.retry_until_settled(&lost, "morning-1").await.expect(200);
    simulator.will(&busy, &json!({ "fault": "busy" })).await;
    merchant.confirm(&merchant.order(&busy)).await.expect(422);
    merchant.confirm(&merchant.order(env().scenario("credit_exhausted"))).await.expect(502);
    merchant.confirm(&merchant.order(env().scenario("blocked_customer"))).await.expect(422);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_purchase_outcome_is_counted_once_by_the_process_that_settled_it() {
    let server = env().another_api_server("server-that-counts");
    let merchant = env().open_merchant().await;
    buy_with_every_outcome(&merchant.calling(server.url())).await;

    let told = Numbers::of(&server).await;
    let purchases = |outcome| vec![("provider", "BPC"), ("product", "ELECTRICITY"), ("outcome", outcome)];
    let answered = |status| vec![("route", "/public/v1/purchases/confirm"), ("status", status)];
    for (name, labels, expected) in [
        ("vendgate_purchases_total", purchases("successful"), 2),
        ("vendgate_purchases_total", purchases("busy"), 1),
        ("vendgate_purchases_total", purchases("float_exhausted"), 1),
        ("vendgate_purchases_total", vec![], 4),
        ("vendgate_vend_requests_total", vec![("provider", "BPC"), ("kind", "first")], 4),
        ("vendgate_vend_requests_total", vec![], 4),
        ("vendgate_vend_answers_total", vec![("answer", "vended")], 1),
        ("vendgate_vend_answers_total", vec![("answer", "refused")], 2),
        ("vendgate_vend_answers_total", vec![("answer", "unknown")], 1),
        ("vendgate_enquiries_total", vec![("provider", "BPC"), ("answer", "vended")], 1),
        ("vendgate_enquiries_total", vec![], 1),
        ("vendgate_provider_seconds_count", vec![("call", "vend")], 4),
        ("vendgate_provider_seconds_count", vec![("call", "enquire")], 1),
        ("vendgate_provider_seconds_count", vec![("call", "check")], 5),
        ("vendgate_provider_questions_total", vec![("answer", "answered")], 4),
        ("vendgate_provider_questions_total", vec![("answer", "refused")], 1),
        ("vendgate_provider_questions_total", vec![], 5),
        ("vendgate_merchant_credit_exhausted_total", vec![("provider", "BPC")], 1),
        ("vendgate_merchant_credit_exhausted_total", vec![], 1),
        ("vendgate_provider_misconfigured_total", vec![], 0),
        ("vendgate_lane_group_size_count", vec![("kind", "reserve")], 4),
        ("vendgate_http_answers_total", answered("200"), 1),
        ("vendgate_http_answers_total", answered("504"), 1),
        ("vendgate_http_answers_total", answered("422"), 2),
        ("vendgate_http_answers_total", answered("502"), 1),
        ("vendgate_panics_total", vec![], 0),
        ("vendgate_turned_away_total", vec![], 0),
    ] {
        assert_eq!(told.count(name, &labels), expected, "{name}{labels:?} in\n{}", told.text);
    }
    assert!(told.count("vendgate_pool_wait_seconds_count", &[("pool", "money")]) >= 8, "{}", told.text);
    assert!(told.count("vendgate_pool_wait_seconds_count", &[("pool", "general")]) > 0, "{}", told.text);
}

#[tokio::test]
async fn paths_that_people_make_up_are_counted_as_one() {
    let server = env().another_api_server("server-of-made-up-paths");
    let merchant = env().open_merchant().await;
    let merchant = merchant.calling(server.url());
    for number in 0..20 {
        merchant.get(&format!("/nowhere/{number}")).await.expect(404);
        merchant.get(&format!("/public/v1/accounts/{}", 900_000 + number)).await.expect(404);
    }
    let told = Numbers::of(&server).await;
    let route = |route| vec![("route", route), ("status", "404")];
    assert_eq!(told.count("vendgate_http_answers_total", &route("none")), 20, "{}", told.text);
    assert_eq!(told.count("vendgate_http_answers_total", &[("status", "404")]), 40, "{}", told.text);
    let lines = told.text.lines().filter(|line| line.starts_with("vendgate_http_answers_total")).count();
    assert!(lines <= 3, "{}", told.text);
}

#[tokio::test]
async fn the_observe_endpoint_and_the_public_endpoint_do_not_share_paths() {
    let server = env().another_api_server("server-with-two-doors");
    assert!(server.address(Listener::Observe).starts_with("http://127.0.0.1:"));
    assert_ne!(server.address(Listener::Observe), server.address(Listener::Http));
    assert_eq!(ask(&server, "/healthz").await, (200, "alive\n".to_owned()));
    for path in ["/", "/public/v1/accounts", "/public/v1/auth/login", "/docs", "/metrics/x", "/openapi.json"]
    {
        assert_eq!(ask(&server, path).await, (404, String::new()), "{path}");
    }
    let merchant = env().open_merchant().await;
    let merchant = merchant.calling(server.url());
    for path in ["/metrics", "/healthz", "/readyz"] {
        assert_eq!(merchant.get(path).await.refusal(), (404, "resource_not_found", None), "{path}");
        let posted = http_client()
            .unwrap()
            .request(Method::POST, format!("{}{path}", server.address(Listener::Observe)));
        assert_eq!(posted.send().await.unwrap().status(), 404, "POST {path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_told_to_stop_says_so_before_it_takes_nothing_more_in() {
    let notice = [("VENDGATE__HTTP__STOP_NOTICE_MS", "5000")];
    let mut server = env().another_api_server_with("server-that-gives-notice", &notice);
    let merchant = env().open_merchant().await;
    let merchant = merchant.calling(server.url());
    assert_eq!(readiness(&server).await.0, 200);
    server.signal(Signal::TERM).unwrap();
    eventually("the server says that it is stopping", async || readiness(&server).await.0 == 503).await;
    let (_, told) = readiness(&server).await;
    assert_eq!((&told["ready"], &told["why"]), (&json!(false), &json!("the process is stopping")));
    merchant.get("/public/v1/accounts").await.expect(200);
    assert!(server.ends_within(Duration::from_secs(40)).is_some_and(|status| status.success()));
}

#[test]
fn no_program_is_ready_while_the_database_is_silent_and_all_are_ready_afterwards() {
    let (Watched { sandbox, worker }, _turn) = (watched(), undisturbed());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let programs = [sandbox.api_server(), worker];
    let all_answer = async |status: u16, why: &Value| {
        for program in programs {
            eventually(&format!("{} is answered {status}", program.name()), async || {
                let (answered, told) = readiness(program).await;
                answered == status && told["why"] == *why && told["since"].as_str().is_some()
            })
            .await;
            assert_eq!(
                ask(program, "/healthz").await.0,
                200,
                "the process is alive, independent of the database"
            );
        }
    };
    runtime.block_on(async {
        all_answer(200, &Value::Null).await;
        let standstill = Standstill::of(sandbox);
        all_answer(503, &json!("no answer within a second")).await;
        let (_, first) = readiness(programs[0]).await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        let (_, later) = readiness(programs[0]).await;
        assert_eq!(first["since"], later["since"], "it was not ready in between");
        drop(standstill);
        all_answer(200, &Value::Null).await;
    });
}

async fn readiness(program: &Process) -> (u16, Value) {
    let (status, body) = ask(program, "/readyz").await;
    (status, serde_json::from_str(&body).unwrap())
}

/// A database server whose processes are all stopped until this is dropped.
struct Standstill(Vec<Pid>);

impl Standstill {
    fn of(sandbox: &Sandbox) -> Self {
        let backends = sandbox.database().run_sql("SELECT pid FROM pg_stat_activity").unwrap();
        let postmaster =
            fs::read_to_string(sandbox.postgres().unwrap().directory().join("data/postmaster.pid")).unwrap();
        let all = postmaster.lines().take(1).chain(backends.lines());
        let all: Vec<Pid> = all.map(|pid| Pid::from_raw(pid.trim().parse().unwrap()).unwrap()).collect();
        for pid in &all {
            // A process may have ended since the query.
            let _gone = kill_process(*pid, Signal::STOP);
        }
        Self(all)
    }
}

impl Drop for Standstill {
    fn drop(&mut self) {
        for pid in &self.0 {
            let _gone = kill_process(*pid, Signal::CONT);
        }
    }
}
