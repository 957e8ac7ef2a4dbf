//! The namespaces of the protocol.

/// The namespace of the types that all XMLVend messages share.
pub(crate) const BASE: &str = "http://www.nrs.eskom.co.za/xmlvend/base/2.1/schema";
/// The namespace of the types of sales messages.
pub(crate) const REVENUE: &str = "http://www.nrs.eskom.co.za/xmlvend/revenue/2.1/schema";
/// The prefix of all namespaces of the standard. A vendor's extensions do not have it.
pub(crate) const XMLVEND_FAMILY: &str = "http://www.nrs.eskom.co.za/xmlvend/";
/// The namespace of `xsi:type`.
pub(crate) const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// The namespace of the SOAP 1.1 envelope.
pub(crate) const SOAP_1_1: &str = "http://schemas.xmlsoap.org/soap/envelope/";
/// The namespace of the SOAP 1.2 envelope.
pub(crate) const SOAP_1_2: &str = "http://www.w3.org/2003/05/soap-envelope";
