//! The answer time of the simulated utility, measured without the service.

use std::time::Duration;

use clock::{Clock, SystemClock};
use sandbox::Sandbox;

use crate::{
    Failure,
    client::{Client, address_of, request},
    measurement::Measurement,
};

/// Long enough for thousands of vends.
const LENGTH: Duration = Duration::from_secs(1);
const HEADERS: &str = "Content-Type: text/xml; charset=utf-8\r\n";

/// A vendor of its own at the utility of a sandbox.
pub struct Vendor {
    address: String,
    meter: String,
    /// The utility answers each message number once.
    sent: u32,
}

impl Vendor {
    pub fn at_utility_of(sandbox: &Sandbox) -> Result<Self, Failure> {
        let meter = utility_sim::population(1).next().ok_or("the utility has no meters")?;
        Ok(Self { address: address_of(&sandbox.info().simulator_url).to_owned(), meter, sent: 0 })
    }

    /// Vends for a while, one vend after the other over one connection.
    pub async fn vend(&mut self) -> Result<Measurement, Failure> {
        let mut client = Client::connect(&self.address).await?;
        let began = SystemClock.monotonic();
        let mut latencies = Vec::new();
        while SystemClock.monotonic().elapsed_since(began) < LENGTH {
            let order = self.order();
            let started = SystemClock.monotonic();
            let answer = client.exchange(&order).await?;
            latencies.push(SystemClock.monotonic().elapsed_since(started));
            if answer.status != 200 || !answer.body.contains("creditVendResp") {
                return Err(format!("a vend was answered {}: {}", answer.status, answer.body).into());
            }
        }
        Ok(Measurement::new(SystemClock.monotonic().elapsed_since(began), latencies))
    }

    /// The next order, as the adapter writes it. The client differs from that of the service, so the numbers are free.
    fn order(&mut self) -> Vec<u8> {
        self.sent = self.sent.saturating_add(1);
        let (meter, number) = (&self.meter, self.sent);
        let order = format!(
            r#"<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/" xmlns:b="http://www.nrs.eskom.co.za/xmlvend/base/2.1/schema" xmlns:r="http://www.nrs.eskom.co.za/xmlvend/revenue/2.1/schema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soap:Body><r:creditVendReq><b:clientID xsi:type="b:EANDeviceID" ean="2670000000039"/><b:terminalID xsi:type="b:GenericDeviceID" id="bench"/><b:msgID dateTime="20260101000000" uniqueNumber="{number}"/><b:authCred><b:opName>vendgate</b:opName><b:password>sandbox1</b:password></b:authCred><b:resource xsi:type="b:Electricity"/><b:idMethod xsi:type="b:VendIDMethod"><b:meterIdentifier xsi:type="b:MeterNumber" msno="{meter}"/></b:idMethod><r:purchaseValue xsi:type="r:PurchaseValueCurrency"><r:amt value="100.00" symbol="BWP"/></r:purchaseValue></r:creditVendReq></soap:Body></soap:Envelope>"#
        );
        request("POST /xmlvend", &self.address, HEADERS, &order)
    }
}
