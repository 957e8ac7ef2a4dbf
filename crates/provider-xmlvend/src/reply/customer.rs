//! The answer to a customer check.

use vend::one_line;

use crate::amount::Amount;
use crate::reply::MessageId;
use crate::tree::{Element, Malformed};

/// `confirmCustomerResp`. It usually has one result.
pub(crate) struct CustomerReply {
    pub(crate) request: Option<MessageId>,
    pub(crate) results: Vec<CustomerResult>,
}

/// One customer.
pub(crate) struct CustomerResult {
    pub(crate) name: Option<String>,
    pub(crate) meter: Option<String>,
    /// `None` if the gateway does not state it.
    pub(crate) can_vend: Option<bool>,
    pub(crate) minimum: Option<Amount>,
    pub(crate) maximum: Option<Amount>,
}

impl CustomerReply {
    pub(super) fn read(message: &Element<'_>) -> Result<Self, Malformed> {
        let results = message.all("confirmCustResult").map(CustomerResult::read).collect::<Result<_, _>>()?;
        Ok(Self { request: MessageId::read(message, "reqMsgID")?, results })
    }
}

impl CustomerResult {
    fn read(result: &Element<'_>) -> Result<Self, Malformed> {
        let config = result.only("custVendConfig")?;
        let inside = |name| config.map_or(Ok(None), |config| config.only(name));
        Ok(Self {
            name: customer_name(result)?,
            meter: meter_number(result)?,
            can_vend: inside("canVend")?.map(truth).transpose()?,
            minimum: inside("minVendAmt")?.map(Amount::read).transpose()?,
            maximum: inside("maxVendAmt")?.map(Amount::read).transpose()?,
        })
    }
}

/// The name in `custVendDetail`. `None` if it is blank.
pub(super) fn customer_name(message: &Element<'_>) -> Result<Option<String>, Malformed> {
    let detail = message.only("custVendDetail")?;
    Ok(detail.and_then(|detail| detail.attribute("name")).and_then(one_line))
}

/// The number in `meterDetail`.
pub(super) fn meter_number(holder: &Element<'_>) -> Result<Option<String>, Malformed> {
    let detail = holder.only("meterDetail")?;
    Ok(detail.and_then(|detail| detail.attribute("msno")).map(str::to_owned))
}

fn truth(element: &Element<'_>) -> Result<bool, Malformed> {
    match element.text() {
        Some("true" | "1") => Ok(true),
        Some("false" | "0") => Ok(false),
        Some(_) | None => Err(Malformed::BadValue("canVend")),
    }
}
