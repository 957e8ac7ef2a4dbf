//! The receipt of a vend, with its tokens.

use money::Money;
use sts::KeyParameters;

use super::{
    super::{Header, Receipt, xml::Xml},
    Style, customer_detail, header, meter_detail,
};
use crate::{meter::KeyChange, product::in_units, tariff::VAT_PERCENT};

/// The utility's descriptions of its tokens. XMLVend has one description for both tokens of a key change. The second
/// text of each pair tests clients in whose own formats some of its characters are separators.
const CREDIT: [&str; 2] = ["Normal Sale", "Sale: normal|prepaid"];
const KEY_CHANGE: [&str; 2] = ["Key Change", "Key change:\n1|2"];

/// Writes the content of a vend response or of a trial's.
pub(super) fn write(xml: &mut Xml, to: &Header, display: &str, receipt: &Receipt, style: Style) {
    header(xml, to, display);
    if style.out_of_order {
        utility(xml);
        client_status(xml, receipt);
    } else {
        client_status(xml, receipt);
        utility(xml);
    }
    xml.leaf("b:vendor", &[("name", "Test Vendor"), ("address", "Gaborone")]);
    customer_detail(xml, "b:custVendDetail", &receipt.issue.meter);
    xml.within("r:creditVendReceipt", &[("receiptNo", &receipt.number)], |xml| {
        xml.within("r:transactions", &[], |xml| {
            if style.out_of_order {
                amount(xml, "r:tenderAmt", receipt.split.tender);
                charges(xml, receipt);
                credit(xml, receipt, style);
            } else {
                credit(xml, receipt, style);
                charges(xml, receipt);
                amount(xml, "r:tenderAmt", receipt.split.tender);
            }
        });
    });
}

fn client_status(xml: &mut Xml, receipt: &Receipt) {
    xml.within("b:clientStatus", &[], |xml| amount(xml, "b:availCredit", receipt.available_credit));
}

fn utility(xml: &mut Xml) {
    xml.leaf("b:utility", &[("name", "Test Utility"), ("address", "Gaborone"), ("taxRef", "0000000001")]);
}

fn credit(xml: &mut Xml, receipt: &Receipt, style: Style) {
    let attributes = [("xsi:type", "r:CreditVendTx"), ("receiptNo", &receipt.number)];
    xml.within("r:tx", &attributes, |xml| {
        amount(xml, "r:amt", receipt.split.credit);
        let rate = VAT_PERCENT.to_string();
        xml.within("r:tax", &[("xsi:type", "b:VAT"), ("rate", &rate)], |xml| {
            amount(xml, "b:amt", receipt.split.vat);
        });
        credit_token(xml, receipt, described(CREDIT, style));
        if let Some(change) = &receipt.issue.key_change {
            key_change_tokens(xml, receipt, change, described(KEY_CHANGE, style));
        }
        xml.within("r:tariff", &[], |xml| xml.text("b:name", "Domestic"));
    });
}

fn credit_token(xml: &mut Xml, receipt: &Receipt, description: &str) {
    xml.within("r:creditTokenIssue", &[("xsi:type", "b:SaleCredTokenIssue")], |xml| {
        xml.text("b:desc", description);
        meter_detail(xml, "b:meterDetail", &receipt.issue.meter);
        if let Some(token) = &receipt.issue.credit {
            xml.within("b:token", &[("xsi:type", "b:STS1Token")], |xml| {
                xml.text("b:stsCipher", token.digits());
            });
        }
        let service = receipt.issue.meter.service;
        let quantity = in_units(u64::from(receipt.split.units.tenths()));
        xml.leaf("b:units", &[("value", &quantity), ("siUnit", service.unit())]);
        let resource = format!("b:{}", service.resource());
        xml.leaf("b:resource", &[("xsi:type", &resource)]);
    });
}

fn key_change_tokens(xml: &mut Xml, receipt: &Receipt, change: &KeyChange, description: &str) {
    xml.within("r:kcTokenIssue", &[], |xml| {
        xml.text("b:desc", description);
        meter_detail(xml, "b:meterDetail", &receipt.issue.meter);
        xml.within("b:token", &[("xsi:type", "b:KCToken")], |xml| {
            for (name, token) in [("b:set1stMeterKey", &change.first), ("b:set2ndMeterKey", &change.second)] {
                xml.within(name, &[], |xml| xml.text("b:stsCipher", token.digits()));
            }
        });
        let ([from_sgc, from_krn, from_ti], [to_sgc, to_krn, to_ti]) =
            (names(&change.from), names(&receipt.issue.meter.key));
        let attributes = [
            ("fromSGC", from_sgc.as_str()),
            ("fromKRN", &from_krn),
            ("fromTI", &from_ti),
            ("toSGC", &to_sgc),
            ("toKRN", &to_krn),
            ("toTI", &to_ti),
        ];
        xml.leaf("b:kctData", &attributes);
    });
}

fn described([usual, odd]: [&'static str; 2], style: Style) -> &'static str {
    if style.odd_descriptions { odd } else { usual }
}

fn names(key: &KeyParameters) -> [String; 3] {
    [key.supply_group.to_string(), key.revision.to_string(), key.tariff_index.to_string()]
}

fn charges(xml: &mut Xml, receipt: &Receipt) {
    if let Some(debt) = receipt.split.debt_recovery {
        xml.within("r:tx", &[("xsi:type", "r:DebtRecoveryTx")], |xml| {
            amount(xml, "r:amt", debt);
            xml.text("r:accDesc", "Sub-account arrears");
            xml.text("r:accNo", "D1");
        });
    }
    let split = &receipt.split;
    for (line, description) in [
        (split.fixed_charge, "Fixed charge"),
        (split.levy, "Electrification levy"),
        (split.regulatory_fee, "Regulatory fee"),
    ] {
        let Some(charge) = line else { continue };
        xml.within("r:tx", &[("xsi:type", "r:ServiceChrgTx")], |xml| {
            amount(xml, "r:amt", charge);
            xml.text("r:accDesc", description);
        });
    }
}

pub(super) fn amount(xml: &mut Xml, name: &str, money: Money) {
    xml.leaf(name, &[("value", &money.amount().to_string()), ("symbol", money.currency().as_str())]);
}
