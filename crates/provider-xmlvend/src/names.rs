//! The namespaces of the protocol.

/// Types that every XMLVend message shares.
pub(crate) const BASE: &str = "http://www.nrs.eskom.co.za/xmlvend/base/2.1/schema";
/// Types of the messages that sell.
pub(crate) const REVENUE: &str = "http://www.nrs.eskom.co.za/xmlvend/revenue/2.1/schema";
/// All schemas of the standard begin so; a vendor's extensions do not.
pub(crate) const XMLVEND_FAMILY: &str = "http://www.nrs.eskom.co.za/xmlvend/";
/// `xsi:type` and its like.
pub(crate) const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// The SOAP 1.1 envelope.
pub(crate) const SOAP_1_1: &str = "http://schemas.xmlsoap.org/soap/envelope/";
/// The SOAP 1.2 envelope.
pub(crate) const SOAP_1_2: &str = "http://www.w3.org/2003/05/soap-envelope";
