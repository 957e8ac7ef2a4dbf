//! Writes answers in the format of XMLVend 2.1.

mod receipt;

use super::{
    CustomerReply, DeviceId, Header, Message, MsgId, Reply, Soap,
    namespace::{BASE, REVENUE, SCHEMA_INSTANCE},
    xml::Xml,
};
use crate::{meter::MeterData, refusal::Refusal};

/// The utility's id on the wire.
const SERVER_EAN: &str = "6004708000029";

/// Peculiarities of real servers that a script can apply to an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// `utility` before `clientStatus`, and the tendered amount before the transactions.
    pub(crate) out_of_order: bool,
    /// Token descriptions that contain a colon, a bar and a line break.
    pub(crate) odd_descriptions: bool,
    /// A fault's detail in no namespace and without a server id.
    pub(crate) unprefixed_fault: bool,
    /// A fault without any detail.
    pub(crate) fault_without_detail: bool,
}

/// Writes an answer as a SOAP envelope.
pub(crate) fn render(message: &Message, soap: Soap) -> Vec<u8> {
    let style = message.style;
    soap.seal(|xml| match &message.reply {
        Reply::Customer(customer) => within_root(xml, "r:confirmCustomerResp", &[], |xml| {
            header(xml, &message.header, "Confirm Customer");
            customer_result(xml, customer);
        }),
        Reply::TrialVend(receipt) => within_root(xml, "r:trialCreditVendResp", &[], |xml| {
            receipt::write(xml, &message.header, "Trial Credit Vend", receipt, style);
        }),
        Reply::Vend(receipt) => within_root(xml, "r:creditVendResp", &[], |xml| {
            receipt::write(xml, &message.header, "Credit Vend", receipt, style);
        }),
        Reply::LastResponse { about, stored } => {
            let typed = &[("xsi:type", "b:LastRespAdviceResp")];
            within_root(xml, "b:adviceResp", typed, |xml| {
                header(xml, &message.header, "Last Response Advice");
                msg_id(xml, "b:adviceReqMsgID", about);
                last_response(xml, stored, style);
            });
        }
        Reply::Fault(refusal) => soap.fault(xml, &refusal.text, |xml| {
            if !style.fault_without_detail {
                xml.within(soap.detail(), &[], |xml| fault(xml, &message.header, refusal, style));
            }
        }),
    })
}

/// Writes a fault for a request that does not identify its sender.
pub(crate) fn render_unidentified(why: &str, soap: Soap) -> Vec<u8> {
    soap.seal(|xml| soap.fault(xml, why, |_no_detail| {}))
}

fn within_root(xml: &mut Xml, name: &str, typed: &[(&str, &str)], content: impl FnOnce(&mut Xml)) {
    let mut attributes = vec![("xmlns:b", BASE), ("xmlns:r", REVENUE), ("xmlns:xsi", SCHEMA_INSTANCE)];
    attributes.extend_from_slice(typed);
    xml.within(name, &attributes, content);
}

fn last_response(xml: &mut Xml, stored: &Message, style: Style) {
    let within = |xml: &mut Xml, type_name, content: &dyn Fn(&mut Xml)| {
        xml.within("b:lastResponse", &[("xsi:type", type_name)], content);
    };
    match &stored.reply {
        Reply::Vend(receipt) => within(xml, "r:CreditVendResp", &|xml| {
            receipt::write(xml, &stored.header, "Credit Vend", receipt, style);
        }),
        Reply::Fault(refusal) => within(xml, "b:XMLVendFaultResp", &|xml| {
            fault_content(xml, "b:", &stored.header, refusal);
        }),
        Reply::Customer(_) | Reply::TrialVend(_) | Reply::LastResponse { .. } => {}
    }
}

fn customer_result(xml: &mut Xml, customer: &CustomerReply) {
    let limit = |xml: &mut Xml, name, amount: Option<money::Money>| {
        if let Some(amount) = amount {
            receipt::amount(xml, name, amount);
        }
    };
    xml.within("r:confirmCustResult", &[], |xml| {
        customer_detail(xml, "r:custVendDetail", &customer.meter);
        xml.within("r:custVendConfig", &[], |xml| {
            xml.text("r:canVend", if customer.can_vend { "true" } else { "false" });
            xml.text("r:fbeDue", "false");
            limit(xml, "r:maxVendAmt", customer.limits.maximum);
            limit(xml, "r:minVendAmt", customer.limits.minimum);
        });
        meter_detail(xml, "r:meterDetail", &customer.meter);
    });
}

fn fault(xml: &mut Xml, to: &Header, refusal: &Refusal, style: Style) {
    if style.unprefixed_fault {
        xml.within("XMLVendFaultResp", &[("xmlns:xsi", SCHEMA_INSTANCE)], |xml| {
            fault_content(xml, "", to, refusal);
        });
    } else {
        within_root(xml, "b:xmlvendFaultResp", &[], |xml| fault_content(xml, "b:", to, refusal));
    }
}

fn fault_content(xml: &mut Xml, prefix: &str, to: &Header, refusal: &Refusal) {
    header_with(xml, prefix, to, "ONLINE ERROR");
    xml.text(&format!("{prefix}operatorMsg"), &refusal.text);
    let type_name = format!("{prefix}{}", refusal.exception);
    xml.within(&format!("{prefix}fault"), &[("xsi:type", &type_name)], |xml| {
        xml.text(&format!("{prefix}desc"), &refusal.text);
    });
}

fn header(xml: &mut Xml, header: &Header, display: &str) {
    header_with(xml, "b:", header, display);
}

/// Without a prefix, it writes the header of servers that omit their id.
fn header_with(xml: &mut Xml, prefix: &str, header: &Header, display: &str) {
    device(xml, prefix, "clientID", &header.to.client);
    if !prefix.is_empty() {
        device(xml, prefix, "serverID", &DeviceId::Ean(SERVER_EAN.to_owned()));
    }
    device(xml, prefix, "terminalID", &header.to.terminal);
    msg_id(xml, &format!("{prefix}reqMsgID"), &header.to.msg_id);
    xml.text(&format!("{prefix}respDateTime"), &header.at.format("%Y-%m-%dT%H:%M:%S%:z").to_string());
    xml.text(&format!("{prefix}dispHeader"), display);
}

fn device(xml: &mut Xml, prefix: &str, name: &str, id: &DeviceId) {
    let (type_name, attribute, value) = match id {
        DeviceId::Ean(ean) => ("EANDeviceID", "ean", ean),
        DeviceId::Generic(id) => ("GenericDeviceID", "id", id),
    };
    let type_name = format!("{prefix}{type_name}");
    xml.leaf(&format!("{prefix}{name}"), &[("xsi:type", &type_name), (attribute, value)]);
}

fn msg_id(xml: &mut Xml, name: &str, id: &MsgId) {
    let number = id.unique_number.to_string();
    xml.leaf(name, &[("dateTime", &id.date_time), ("uniqueNumber", &number)]);
}

fn customer_detail(xml: &mut Xml, name: &str, meter: &MeterData) {
    let details =
        [("name", customer_name(meter)), ("address", "PLOT 1 GABORONE"), ("accNo", meter.number.as_str())];
    xml.leaf(name, &details);
}

fn meter_detail(xml: &mut Xml, name: &str, meter: &MeterData) {
    let (sgc, krn, ti) = (
        meter.key.supply_group.to_string(),
        meter.key.revision.to_string(),
        meter.key.tariff_index.to_string(),
    );
    let attributes = [("msno", meter.number.as_str()), ("sgc", &sgc), ("krn", &krn), ("ti", &ti)];
    xml.within(name, &attributes, |xml| {
        xml.leaf("b:meterType", &[("at", meter.algorithm.code()), ("tt", "02")]);
    });
}

/// The customer of a meter, always the same.
pub(crate) fn customer_name(meter: &MeterData) -> &'static str {
    match meter.number.as_str().bytes().last().unwrap_or_default() % 5 {
        0 => "KAGISO MODISE",
        1 => "NALEDI TAU",
        2 => "THATO MOLEFE",
        3 => "BOITUMELO SEBINA",
        _ => "LORATO KGOSI",
    }
}
