//! A client of the utility: hand-written requests, and answers checked as text.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, Utc};
use clock::ManualClock;
use reqwest::Client;
use serde_json::Value;
use utility_sim::{Simulator, SimulatorSettings};

pub const NAMESPACES: &str = r#"xmlns:b="http://www.nrs.eskom.co.za/xmlvend/base/2.1/schema" xmlns:r="http://www.nrs.eskom.co.za/xmlvend/revenue/2.1/schema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance""#;
pub const SOAP_1_1: &str = "http://schemas.xmlsoap.org/soap/envelope/";
pub const SOAP_1_2: &str = "http://www.w3.org/2003/05/soap-envelope";

/// A simulator and its client.
pub struct Counter {
    pub simulator: Simulator,
    pub http: Client,
    next: AtomicU32,
}

/// An answer: its HTTP status and its text.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub text: String,
}

/// 20 November 2026, 09:30:00 in Gaborone.
pub fn half_past_nine() -> DateTime<Utc> {
    DateTime::from_timestamp(1_795_159_800, 0).unwrap()
}

/// The number of the meter with this name.
pub fn meter(name: &str) -> &'static str {
    utility_sim::scenario(name).unwrap().number
}

impl Counter {
    pub fn open() -> Self {
        Self::open_with(|_as_it_is| {})
    }

    pub fn open_with(change: impl FnOnce(&mut SimulatorSettings)) -> Self {
        // Only the first test of a process can install it.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let mut settings = SimulatorSettings::default();
        change(&mut settings);
        let clock = Arc::new(ManualClock::at(half_past_nine()));
        let simulator = Simulator::start(&settings, clock).unwrap();
        let http = Client::builder().timeout(Duration::from_secs(20)).build().unwrap();
        Self { simulator, http, next: AtomicU32::new(1) }
    }

    /// A message number that was not used before.
    pub fn fresh(&self) -> u32 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub async fn check(&self, meter: &str) -> Answer {
        self.ask(&check_request(self.fresh(), meter)).await
    }

    pub async fn quote(&self, meter: &str, amount: &str) -> Answer {
        self.ask(&sale_request("trialCreditVendReq", self.fresh(), meter, amount)).await
    }

    pub async fn vend(&self, meter: &str, amount: &str) -> Answer {
        self.vend_as(self.fresh(), meter, amount).await
    }

    pub async fn vend_as(&self, number: u32, meter: &str, amount: &str) -> Answer {
        self.try_vend_as(number, meter, amount).await.unwrap()
    }

    /// As [`vend_as`](Self::vend_as), if there may be no answer.
    pub async fn try_vend_as(&self, number: u32, meter: &str, amount: &str) -> reqwest::Result<Answer> {
        self.post(SOAP_1_1, &sale_request("creditVendReq", number, meter, amount)).await
    }

    /// Buys water. Everything else is as for electricity.
    pub async fn vend_water(&self, meter: &str, amount: &str) -> Answer {
        self.ask(&of_water(&sale_request("creditVendReq", self.fresh(), meter, amount))).await
    }

    /// Enquires about the vend with this number.
    pub async fn enquire(&self, about: u32) -> Answer {
        self.ask(&advice_request(self.fresh(), about)).await
    }

    /// The same, for an enquiry that may not be answered.
    pub async fn try_enquire(&self, about: u32) -> reqwest::Result<Answer> {
        self.post(SOAP_1_1, &advice_request(self.fresh(), about)).await
    }

    pub async fn ask(&self, message: &str) -> Answer {
        self.post(SOAP_1_1, message).await.unwrap()
    }

    pub async fn post(&self, soap: &str, message: &str) -> reqwest::Result<Answer> {
        let envelope = format!(r#"<s:Envelope xmlns:s="{soap}"><s:Body>{message}</s:Body></s:Envelope>"#);
        let response = self.http.post(self.simulator.xmlvend_url()).body(envelope).send().await?;
        Ok(Answer { status: response.status().as_u16(), text: response.text().await? })
    }

    /// Enters a token into a meter.
    pub async fn enter(&self, meter: &str, token: &str) -> Value {
        let url = format!("{}/meters/{meter}/enter", self.simulator.url());
        let body = serde_json::json!({ "token": token }).to_string();
        let response = self.http.post(url).body(body).send().await.unwrap();
        serde_json::from_str(&response.text().await.unwrap()).unwrap()
    }

    /// Replaces a meter by a new one. The status of the answer.
    pub async fn reset(&self, meter: &str) -> u16 {
        let url = format!("{}/meters/{meter}/reset", self.simulator.url());
        self.http.post(url).send().await.unwrap().status().as_u16()
    }

    pub async fn vends(&self, meter: &str) -> Vec<Value> {
        let url = format!("{}/vends?subscriber={meter}", self.simulator.url());
        let text = self.http.get(url).send().await.unwrap().text().await.unwrap();
        serde_json::from_str(&text).unwrap()
    }

    pub async fn script(&self, line: Value) -> u16 {
        let url = format!("{}/faults", self.simulator.url());
        self.http.post(url).body(line.to_string()).send().await.unwrap().status().as_u16()
    }
}

impl Answer {
    /// The texts of all elements of this qualified name.
    pub fn texts(&self, name: &str) -> Vec<&str> {
        let opening = format!("<{name}>");
        self.text.split(&opening).skip(1).map(|rest| rest.split('<').next().unwrap()).collect()
    }

    /// All tokens, in the order of the answer.
    pub fn ciphers(&self) -> Vec<&str> {
        self.texts("b:stsCipher")
    }

    /// The type and the text of the fault, if it is one.
    pub fn fault(&self) -> Option<(&str, &str)> {
        let (_, fault) = self.text.split_once(r#"<b:fault xsi:type="b:"#)?;
        let (kind, rest) = fault.split_once("\"><b:desc>")?;
        Some((kind, rest.split('<').next()?))
    }

    pub fn says(&self, part: &str) -> bool {
        self.text.contains(part)
    }
}

pub fn check_request(number: u32, meter: &str) -> String {
    let header = header(number);
    format!(
        r#"<r:confirmCustomerReq {NAMESPACES}>{header}<r:idMethod xsi:type="b:VendIDMethod"><b:meterIdentifier xsi:type="b:MeterNumber" msno="{meter}"/></r:idMethod></r:confirmCustomerReq>"#
    )
}

pub fn sale_request(name: &str, number: u32, meter: &str, amount: &str) -> String {
    let header = header(number);
    format!(
        r#"<r:{name} {NAMESPACES}>{header}<b:resource xsi:type="b:Electricity"/><b:idMethod xsi:type="b:VendIDMethod"><b:meterIdentifier xsi:type="b:MeterNumber" msno="{meter}"/></b:idMethod><r:purchaseValue xsi:type="r:PurchaseValueCurrency"><r:amt value="{amount}" symbol="BWP"/></r:purchaseValue></r:{name}>"#
    )
}

/// The same request for water.
pub fn of_water(sale: &str) -> String {
    sale.replace(r#"xsi:type="b:Electricity""#, r#"xsi:type="b:Water""#)
}

pub fn advice_request(number: u32, about: u32) -> String {
    let header = header(number);
    format!(
        r#"<b:adviceReq xsi:type="b:LastRespAdviceReq" {NAMESPACES}>{header}<b:adviceReqMsgID dateTime="20261120073000" uniqueNumber="{about}"/></b:adviceReq>"#
    )
}

fn header(number: u32) -> String {
    format!(
        r#"<b:clientID xsi:type="b:EANDeviceID" ean="6004708000012"/><b:terminalID xsi:type="b:GenericDeviceID" id="1"/><b:msgID dateTime="20261120073000" uniqueNumber="{number}"/><b:authCred><b:opName>vendgate</b:opName><b:password>sandbox1</b:password></b:authCred>"#
    )
}
