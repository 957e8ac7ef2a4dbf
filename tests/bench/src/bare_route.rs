//! The yardstick of the HTTP routes: the web framework alone. One route reads the JSON of a confirm and answers JSON of the
//! same size as a confirm's answer. It is a process of its own, like the server.

use std::{
    env,
    error::Error,
    io::{BufRead, BufReader},
    net::{Ipv4Addr, TcpListener},
    process::{Child, ChildStdin, Command, Stdio},
    time::Duration,
};

use actix_web::{
    App, HttpServer, rt,
    web::{Json, post},
};
use api_server::HttpSettings;
use sandbox::parts::end_with_standard_input;
use serde::{Deserialize, Serialize};

use crate::{Failure, client::address_of, till::CONFIRM};

/// The first argument that makes this executable the bare route.
pub const PART: &str = "bare-route";

/// As in the requests of a till.
#[derive(Debug, Deserialize, Serialize)]
struct Order {
    source_channel: String,
    language: String,
    product_type: String,
    provider_code: String,
    debited_account_id: i64,
    beneficiary_phone_number: String,
    subscriber_identifier: String,
    amount: u64,
    currency: String,
    external_reference: String,
}

/// About 900 bytes: so many has the answer to a confirm.
#[derive(Debug, Serialize)]
struct Sale {
    status: &'static str,
    order: Order,
    receipt: [&'static str; 10],
}

/// A running bare route. Dropping it ends its process.
pub struct BareRoute {
    process: Child,
    /// Closed when this process ends in any way, which ends the route.
    _lifeline: ChildStdin,
    address: String,
}

/// Serves until standard input ends. Prints where it listens.
pub fn serve() -> Result<(), Box<dyn Error>> {
    end_with_standard_input();
    let settings = HttpSettings::default();
    rt::System::new().block_on(async move {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let server = HttpServer::new(|| App::new().route(CONFIRM, post().to(sell)))
            .workers(settings.workers)
            .keep_alive(Duration::from_secs(settings.keep_alive_s))
            .disable_signals()
            .listen(listener)?
            .run();
        println!("http://{address}");
        server.await?;
        Ok::<_, Box<dyn Error>>(())
    })
}

async fn sell(order: Json<Order>) -> Json<Sale> {
    let receipt = ["a line of the receipt, as long as one of the other fields"; 10];
    Json(Sale { status: "SUCCESSFUL", order: order.into_inner(), receipt })
}

impl BareRoute {
    pub fn start() -> Result<Self, Failure> {
        let mut command = Command::new(env::current_exe()?);
        command.arg(PART).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let lifeline = process.stdin.take().ok_or("the bare route has no standard input")?;
        let stdout = process.stdout.take().ok_or("the bare route has no standard output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let address = address_of(line.trim()).to_owned();
        Ok(Self { process, _lifeline: lifeline, address })
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// The id of its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for BareRoute {
    fn drop(&mut self) {
        let _ended_before = self.process.kill();
        let _reaped_before = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_bare_route_answers_a_confirm_with_about_as_many_bytes_as_the_service() {
        let order = Order {
            source_channel: "POS".to_owned(),
            language: "en-BW".to_owned(),
            product_type: "ELECTRICITY".to_owned(),
            provider_code: "BPC".to_owned(),
            debited_account_id: 1_234,
            beneficiary_phone_number: "26771234567".to_owned(),
            subscriber_identifier: "09000000012".to_owned(),
            amount: 100,
            currency: "BWP".to_owned(),
            external_reference: "bench-09000000012".to_owned(),
        };
        let sale = serde_json::to_string(&sell(Json(order)).await.into_inner()).unwrap();
        assert!(sale.contains(crate::till::BOUGHT) && (850..950).contains(&sale.len()), "{}", sale.len());
    }
}
