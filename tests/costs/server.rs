//! A server in this process, on a database behind a counting relay, and a merchant that buys from it.

use std::{
    fs::{self, File},
    net::TcpStream,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use acceptance::{
    fault_injection::until,
    surface::{Surface, body, quoted},
};
use purchase::Handling;
use rustix::stdio::dup2_stderr;
use sandbox::{Merchant, MerchantPlan, Options, Program, Programs, Sandbox, WalletPlan, free_port};
use serde_json::Value;
use test_kit::relay::Relay;
use tokio::runtime::Runtime;

use crate::{client::Client, conversation::Conversation};

const PATIENCE: Duration = Duration::from_secs(30);

/// A server whose costs can be counted. It runs until the process ends.
pub struct CountedServer {
    pub sandbox: Sandbox,
    pub conversation: Arc<Conversation>,
    pub merchant: Merchant,
    pub address: String,
    pub access_token: String,
}

impl CountedServer {
    /// Starts everything. No worker runs, so nothing else writes.
    pub fn start() -> Self {
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("costs");
        let options = Options { works: false, ..Options::for_tests(directory.clone()) };
        let sandbox = Sandbox::start(&options, &programs()).unwrap();
        let (relay, conversation) = Conversation::relay_to(sandbox.database());

        let address = serve(&directory, &relay);

        let plan = MerchantPlan {
            wallets: vec![WalletPlan::loaded("Wallet", Handling::SelfManaged)],
            ..MerchantPlan::staging("COSTS", "A shop that counts")
        };
        let merchant = Runtime::new().unwrap().block_on(sandbox.office().open_merchant(plan)).unwrap();
        let access_token = log_in(&address, &merchant);
        Self { sandbox, conversation, merchant, address, access_token }
    }

    /// The bytes of a request of the merchant.
    pub fn request(&self, client: &Client, method: &str, path: &str, body: &str) -> Vec<u8> {
        let headers = format!("Authorization: Bearer {}\r\n", self.access_token);
        client.request(method, &format!("/public/v1{path}"), &headers, body)
    }

    /// The body of a confirm of BWP 100.00.
    pub fn order(&self, meter: &str, external_reference: &str) -> String {
        let wallet = self.merchant.wallets.first().unwrap().0;
        let mut fields = Surface::V1.order(wallet, meter, "100.00");
        fields.push(("external_reference", quoted(external_reference)));
        body(&fields)
    }
}

fn programs() -> Programs {
    Programs {
        api_server: Program::at(env!("CARGO_BIN_EXE_acceptance-api-server")),
        retry_worker: Program::at(env!("CARGO_BIN_EXE_acceptance-retry-worker")),
        utility_sim: Program::at(env!("CARGO_BIN_EXE_acceptance-utility-sim")),
        console: Program::at(env!("CARGO_BIN_EXE_acceptance-console")),
    }
}

/// Runs the program in this process, with the settings of the sandbox's server and another way to the database. Its log
/// is written as usual, into a file. Returns its address.
fn serve(directory: &Path, relay: &Relay) -> String {
    let address = format!("127.0.0.1:{}", free_port(0).unwrap());
    let mut section = "";
    let sandboxed = fs::read_to_string(directory.join("api-server.toml")).unwrap();
    let lines = sandboxed.lines().map(|line| {
        section = if line.starts_with('[') { line } else { section };
        match (section, line.split_once(" = ").map_or("", |(name, _value)| name)) {
            ("[http]", "listen") => format!("listen = {address:?}"),
            ("[observe]", "listen") => "listen = \"127.0.0.1:0\"".to_owned(),
            ("[store]", "database_url") => {
                relay.through(&line.replace("/vendgate\"", "/vendgate?sslmode=disable\""))
            }
            _ => line.to_owned(),
        }
    });
    let settings = directory.join("counted.toml");
    fs::write(&settings, lines.collect::<Vec<_>>().join("\n")).unwrap();
    dup2_stderr(File::create(directory.join("counted.log")).unwrap()).unwrap();
    thread::spawn(move || api_server::main([settings.display().to_string()]).is_ok());
    until_it_listens(&address);
    address
}

fn until_it_listens(address: &str) {
    let runtime = Runtime::new().unwrap();
    runtime.block_on(until("the server listens", PATIENCE, async || TcpStream::connect(address).is_ok()));
}

fn log_in(address: &str, merchant: &Merchant) -> String {
    let body = merchant.credentials.login_body().to_string();
    let mut client = Client::connect(address);
    let request = client.request("POST", "/public/v1/auth/login", "", &body);
    let answer: Value = serde_json::from_slice(client.exchange(&request)).unwrap();
    answer.get("access_token").and_then(Value::as_str).unwrap().to_owned()
}
