//! The four messages that we send. They follow the schemas strictly.
//!
//! A child element takes the namespace of the schema that declares the type around it, not that of the
//! message. So `idMethod` is a *base* element in requests that vend and a *revenue* element in
//! `confirmCustomerReq`, and what is inside it is a base element in both.

use secrecy::ExposeSecret;
use vend::{CallId, Sale, SubscriberIdentifier, VendOrder};

use crate::resource::resource;
use crate::settings::{Credentials, DeviceId};
use crate::tag::Tag;

/// A message and the operation that it belongs to.
pub(crate) struct Message<'a> {
    /// The name in the `SOAPAction` header.
    pub(crate) action: &'static str,
    /// The element for the envelope's body.
    pub(crate) content: Tag<'a>,
}

/// The most parts that a message has: four in its header, and three of a sale.
const PARTS_MAX: usize = 7;

/// The sender: the constant part of every message.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    pub(crate) client: DeviceId,
    pub(crate) terminal: DeviceId,
    pub(crate) credentials: Option<Credentials>,
}

impl Sender {
    /// The customer check: asks for the subscriber's name and whether it may buy.
    pub(crate) fn confirm_customer<'a>(
        &'a self,
        call: CallId,
        subscriber: &'a SubscriberIdentifier,
    ) -> Message<'a> {
        let mut parts = self.header(call);
        parts.push(id_method("r:idMethod", subscriber));
        Message { action: "ConfirmCustomerRequest", content: Tag::new("r:confirmCustomerReq").around(parts) }
    }

    /// The trial vend: asks what this sale would yield.
    pub(crate) fn trial_credit_vend<'a>(&'a self, call: CallId, sale: &'a Sale) -> Message<'a> {
        let content = Tag::new("r:trialCreditVendReq").around(self.sale_parts(call, sale));
        Message { action: "TrialCreditVendRequest", content }
    }

    /// The vend.
    pub(crate) fn credit_vend<'a>(&'a self, order: &'a VendOrder) -> Message<'a> {
        let parts = self.sale_parts(order.reference.call(), &order.sale);
        Message { action: "CreditVendRequest", content: Tag::new("r:creditVendReq").around(parts) }
    }

    /// The enquiry: asks for the gateway's answer to the vend with this reference.
    pub(crate) fn last_response(&self, call: CallId, order: &VendOrder) -> Message<'_> {
        let mut parts = self.header(call);
        parts.push(message_id("b:adviceReqMsgID", order.reference.call()));
        let content = Tag::new("b:adviceReq").with("xsi:type", "b:LastRespAdviceReq").around(parts);
        Message { action: "AdviceRequest", content }
    }

    fn sale_parts<'a>(&'a self, call: CallId, sale: &'a Sale) -> Vec<Tag<'a>> {
        let amount = Tag::new("r:amt")
            .with("value", sale.amount.amount().to_string())
            .with("symbol", sale.amount.currency().as_str().to_owned());
        let mut parts = self.header(call);
        parts.extend([
            Tag::new("b:resource").with("xsi:type", format!("b:{}", resource(sale.product))),
            id_method("b:idMethod", &sale.subscriber),
            Tag::new("r:purchaseValue").with("xsi:type", "r:PurchaseValueCurrency").around([amount]),
        ]);
        parts
    }

    fn header(&self, call: CallId) -> Vec<Tag<'_>> {
        let mut parts = Vec::with_capacity(PARTS_MAX);
        parts.extend([
            device("b:clientID", &self.client),
            device("b:terminalID", &self.terminal),
            message_id("b:msgID", call),
        ]);
        parts.extend(self.credentials.as_ref().map(authentication));
        parts
    }
}

fn device<'a>(name: &'static str, id: &'a DeviceId) -> Tag<'a> {
    match id {
        DeviceId::Ean(ean) => Tag::new(name).with("xsi:type", "b:EANDeviceID").with("ean", ean.as_str()),
        DeviceId::Id(id) => Tag::new(name).with("xsi:type", "b:GenericDeviceID").with("id", id.as_str()),
    }
}

fn message_id(name: &'static str, call: CallId) -> Tag<'static> {
    Tag::new(name).with("dateTime", call.second().to_string()).with("uniqueNumber", call.number().to_string())
}

fn authentication(credentials: &Credentials) -> Tag<'_> {
    Tag::new("b:authCred").around([
        Tag::new("b:opName").saying(&credentials.op_name),
        Tag::new("b:password").saying(credentials.password.expose_secret()),
    ])
}

fn id_method<'a>(name: &'static str, subscriber: &'a SubscriberIdentifier) -> Tag<'a> {
    let meter =
        Tag::new("b:meterIdentifier").with("xsi:type", "b:MeterNumber").with("msno", subscriber.as_str());
    Tag::new(name).with("xsi:type", "b:VendIDMethod").around([meter])
}

#[cfg(test)]
mod tests {
    use chrono::{TimeZone, Utc};
    use money::Money;
    use vend::{Product, ProviderReference};

    use super::*;
    use crate::envelope;
    use crate::settings::SoapVersion;

    fn sender() -> Sender {
        Sender {
            client: DeviceId::Ean("2670000000015".to_owned()),
            terminal: DeviceId::Id("till-7".to_owned()),
            credentials: Some(Credentials { op_name: "shop".to_owned(), password: "a<b&c\"d".into() }),
        }
    }

    fn call(minute: u32, number: u32) -> CallId {
        CallId::new(number, Utc.with_ymd_and_hms(2026, 11, 20, 9, minute, 0).unwrap()).unwrap()
    }

    fn order() -> VendOrder {
        let sale = Sale {
            product: Product::Electricity,
            subscriber: SubscriberIdentifier::parse("14301118432").unwrap(),
            amount: Money::parse_wire("BWP 100.00").unwrap(),
        };
        VendOrder { reference: ProviderReference::new(call(30, 42)), sale }
    }

    fn written(version: SoapVersion, message: Message<'_>) -> String {
        String::from_utf8(envelope::seal(version, message.content)).unwrap()
    }

    /// The fixture without its line breaks. They only make it readable and are not sent.
    fn golden(fixture: &str) -> String {
        fixture.lines().collect()
    }

    #[test]
    fn a_customer_check_has_its_id_method_in_the_revenue_namespace() {
        let (sender, order) = (sender(), order());
        let message = sender.confirm_customer(call(29, 41), &order.sale.subscriber);
        let fixture = include_str!("../tests/fixtures/confirm_customer.request.xml");
        assert_eq!(written(SoapVersion::V1_1, message), golden(fixture));
    }

    #[test]
    fn a_vend_has_its_id_method_in_the_base_namespace() {
        let fixture = include_str!("../tests/fixtures/credit_vend.request.xml");
        assert_eq!(written(SoapVersion::V1_1, sender().credit_vend(&order())), golden(fixture));
    }

    #[test]
    fn a_trial_differs_from_a_vend_in_its_name_and_its_id_alone() {
        let trial = written(SoapVersion::V1_1, sender().trial_credit_vend(call(29, 41), &order().sale));
        let as_vend = trial
            .replace("trialCreditVendReq", "creditVendReq")
            .replace("20261120092900\" uniqueNumber=\"41", "20261120093000\" uniqueNumber=\"42");
        assert_eq!(as_vend, golden(include_str!("../tests/fixtures/credit_vend.request.xml")));
    }

    #[test]
    fn water_is_asked_for_as_water() {
        let mut water = order();
        water.sale.product = Product::Water;
        let fixture = golden(include_str!("../tests/fixtures/credit_vend.request.xml"));
        let asked = fixture.replace("b:Electricity", "b:Water");
        assert_ne!(asked, fixture);
        assert_eq!(written(SoapVersion::V1_1, sender().credit_vend(&water)), asked);
    }

    #[test]
    fn an_enquiry_names_the_order_under_a_fresh_id() {
        let (sender, order) = (sender(), order());
        let message = sender.last_response(call(29, 41), &order);
        let fixture = include_str!("../tests/fixtures/last_response.request.xml");
        assert_eq!(written(SoapVersion::V1_2, message), golden(fixture));
    }

    #[test]
    fn without_credentials_none_are_sent() {
        let anonymous = Sender { credentials: None, ..sender() };
        assert!(!written(SoapVersion::V1_1, anonymous.credit_vend(&order())).contains("authCred"));
    }
}
