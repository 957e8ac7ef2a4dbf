//! The exact protocol: envelopes, namespaces, compression, credentials.

use std::io::Read;

use flate2::read::GzDecoder;

use crate::counter::{Answer, Counter, NAMESPACES, SOAP_1_1, SOAP_1_2, check_request, meter, sale_request};

#[tokio::test]
async fn a_vend_response_is_written_to_the_letter() {
    let counter = Counter::open();
    let answer = counter.vend_as(42, meter("active_11_digit"), "100.00").await;
    let token = answer.ciphers()[0];
    let receipt = answer.text.split("receiptNo=\"").nth(1).unwrap().split('"').next().unwrap();
    let expected = format!(
        concat!(
            r#"<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="{soap}"><soap:Body>"#,
            r#"<r:creditVendResp {namespaces}>"#,
            r#"<b:clientID xsi:type="b:EANDeviceID" ean="6004708000012"/>"#,
            r#"<b:serverID xsi:type="b:EANDeviceID" ean="6004708000029"/>"#,
            r#"<b:terminalID xsi:type="b:GenericDeviceID" id="1"/>"#,
            r#"<b:reqMsgID dateTime="20261120073000" uniqueNumber="42"/>"#,
            r#"<b:respDateTime>2026-11-20T09:30:00+02:00</b:respDateTime>"#,
            r#"<b:dispHeader>Credit Vend</b:dispHeader>"#,
            r#"<b:clientStatus><b:availCredit value="999999900.00" symbol="BWP"/></b:clientStatus>"#,
            r#"<b:utility name="Test Utility" address="Gaborone" taxRef="0000000001"/>"#,
            r#"<b:vendor name="Test Vendor" address="Gaborone"/>"#,
            r#"<b:custVendDetail name="KAGISO MODISE" address="PLOT 1 GABORONE" accNo="07000010012"/>"#,
            r#"<r:creditVendReceipt receiptNo="{receipt}"><r:transactions>"#,
            r#"<r:tx xsi:type="r:CreditVendTx" receiptNo="{receipt}"><r:amt value="100.00" symbol="BWP"/>"#,
            r#"<r:tax xsi:type="b:VAT" rate="14"><b:amt value="12.28" symbol="BWP"/></r:tax>"#,
            r#"<r:creditTokenIssue xsi:type="b:SaleCredTokenIssue"><b:desc>Normal Sale</b:desc>"#,
            r#"<b:meterDetail msno="07000010012" sgc="123457" krn="4" ti="01"><b:meterType at="11" tt="02"/></b:meterDetail>"#,
            r#"<b:token xsi:type="b:STS1Token"><b:stsCipher>{token}</b:stsCipher></b:token>"#,
            r#"<b:units value="66.6" siUnit="kWh"/><b:resource xsi:type="b:Electricity"/></r:creditTokenIssue>"#,
            r#"<r:tariff><b:name>Domestic</b:name></r:tariff></r:tx>"#,
            r#"<r:tenderAmt value="100.00" symbol="BWP"/></r:transactions></r:creditVendReceipt>"#,
            r#"</r:creditVendResp></soap:Body></soap:Envelope>"#,
        ),
        soap = SOAP_1_1,
        namespaces = NAMESPACES,
        receipt = receipt,
        token = token,
    );
    assert_eq!(answer.text, expected);
}

#[tokio::test]
async fn a_trial_shows_units_and_a_token_of_zeros_and_vends_nothing() {
    let counter = Counter::open();
    let trial = counter.quote(meter("active_11_digit"), "100.00").await;
    assert_eq!(trial.ciphers(), ["00000000000000000000"]);
    assert!(trial.says("<r:trialCreditVendResp ") && trial.says(r#"<b:units value="66.6" siUnit="kWh"/>"#));
    assert_eq!(counter.vends(meter("active_11_digit")).await.len(), 0);
}

#[tokio::test]
async fn soap_1_2_is_answered_in_soap_1_2() {
    let counter = Counter::open();
    let sale = sale_request("creditVendReq", 1, meter("active_11_digit"), "50.00");
    let answer = counter.post(SOAP_1_2, &sale).await.unwrap();
    assert!(answer.says(&format!(r#"<soap:Envelope xmlns:soap="{SOAP_1_2}">"#)));
    let refusal = counter.post(SOAP_1_2, &check_request(2, meter("not_found"))).await.unwrap();
    assert_eq!((refusal.status, refusal.fault().unwrap().0), (500, "UnknownMeterEx"));
    assert!(refusal.says("<soap:Code><soap:Value>soap:Receiver</soap:Value></soap:Code><soap:Reason>"));
    assert!(refusal.says("<soap:Detail><b:xmlvendFaultResp "));
}

#[tokio::test]
async fn a_fault_in_soap_1_1_carries_the_message_id_of_its_request() {
    let counter = Counter::open();
    let refusal = counter.ask(&check_request(9, meter("not_found"))).await;
    assert_eq!(refusal.status, 500);
    assert!(refusal.says("<soap:Fault><faultcode>soap:Server</faultcode><faultstring>Meter not found</faultstring><detail><b:xmlvendFaultResp "));
    assert!(refusal.says(r#"<b:reqMsgID dateTime="20261120073000" uniqueNumber="9"/>"#));
}

#[tokio::test]
async fn answers_are_compressed_for_clients_that_accept_it() {
    for (switched_on, accepts, compressed) in [(true, true, true), (true, false, false), (false, true, false)]
    {
        let counter = Counter::open_with(|settings| settings.gzip = switched_on);
        let message = check_request(1, meter("active_11_digit"));
        let envelope = format!(r#"<s:Envelope xmlns:s="{SOAP_1_1}"><s:Body>{message}</s:Body></s:Envelope>"#);
        let mut request = counter.http.post(counter.simulator.xmlvend_url()).body(envelope);
        if accepts {
            request = request.header("Accept-Encoding", "gzip,deflate");
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.headers().contains_key("content-encoding"), compressed);
        assert_eq!(response.headers()["content-type"], "text/xml; charset=utf-8");
        let bytes = response.bytes().await.unwrap();
        let mut text = String::new();
        if compressed {
            GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
        } else {
            text = String::from_utf8(bytes.to_vec()).unwrap();
        }
        assert!(text.ends_with("</r:confirmCustomerResp></soap:Body></soap:Envelope>"));
    }
}

#[tokio::test]
async fn wrong_credentials_are_refused_before_anything_happens() {
    let counter = Counter::open();
    let sale = sale_request("creditVendReq", 1, meter("active_11_digit"), "50.00");
    let without =
        sale.split("<b:authCred>").next().unwrap().to_owned() + sale.split("</b:authCred>").nth(1).unwrap();
    for request in
        [sale.replace("sandbox1", "sandbox2"), sale.replace("<b:opName>vendgate", "<b:opName>other"), without]
    {
        assert_eq!(counter.ask(&request).await.fault().unwrap().0, "RequestAuthorisationEx");
    }
    assert_eq!(counter.vends(meter("active_11_digit")).await.len(), 0);
    assert_eq!(counter.ask(&sale).await.status, 200);
}

#[tokio::test]
async fn an_element_in_the_wrong_namespace_is_a_schema_fault() {
    let counter = Counter::open();
    let sale = sale_request("creditVendReq", 1, meter("active_11_digit"), "50.00")
        .replace("b:idMethod", "r:idMethod");
    let check = check_request(2, meter("active_11_digit")).replace("r:idMethod", "b:idMethod");
    for request in [sale, check] {
        let refusal = counter.ask(&request).await;
        assert_eq!(refusal.fault().unwrap().0, "XMLVendSchemaEx");
        assert!(refusal.says("idMethod is missing"));
    }
}

#[tokio::test]
async fn prefixes_are_the_clients_own_business() {
    let counter = Counter::open();
    let sale = sale_request("creditVendReq", 1, meter("active_11_digit"), "50.00")
        .replace("b:", "q1:")
        .replace("r:", "q2:")
        .replace("xmlns:b=", "xmlns:q1=")
        .replace("xmlns:r=", "xmlns:q2=");
    assert_eq!(counter.ask(&sale).await.status, 200);
}

#[tokio::test]
async fn what_the_utility_does_not_do_it_says() {
    let counter = Counter::open();
    let reprint = check_request(1, meter("active_11_digit")).replace("confirmCustomerReq", "reprintReq");
    assert_eq!(counter.ask(&reprint).await.fault().unwrap().0, "UseCaseSupportEx");
}

#[tokio::test]
async fn an_amount_that_is_none_is_a_schema_fault_and_another_currency_is_refused() {
    let counter = Counter::open();
    for amount in ["1e3", "-5.00", "0.00", "5.001", ""] {
        assert_eq!(
            counter.vend(meter("active_11_digit"), amount).await.fault().unwrap().0,
            "XMLVendSchemaEx"
        );
    }
    let rand = sale_request("creditVendReq", 99, meter("active_11_digit"), "50.00").replace("BWP", "ZAR");
    assert_eq!(counter.ask(&rand).await.fault().unwrap().0, "BusinessRuleEx");
}

#[tokio::test]
async fn what_is_not_the_protocol_gets_a_bare_fault() {
    let counter = Counter::open();
    for body in ["", "not XML", "<a/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"] {
        let response = counter.http.post(counter.simulator.xmlvend_url()).body(body).send().await.unwrap();
        let answer = Answer { status: response.status().as_u16(), text: response.text().await.unwrap() };
        assert_eq!(answer.status, 500);
        assert!(
            answer.says("<faultcode>soap:Server</faultcode>") && !answer.says("detail"),
            "{}",
            answer.text
        );
    }
}

#[tokio::test]
async fn a_stopped_simulator_refuses_connections_and_its_port_is_free() {
    let counter = Counter::open();
    let address = counter.simulator.address();
    counter.simulator.stop().await;
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
    assert!(std::net::TcpListener::bind(address).is_ok());
}
