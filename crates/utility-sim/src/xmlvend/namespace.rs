//! The namespaces of an XMLVend message.

pub(crate) const BASE: &str = "http://www.nrs.eskom.co.za/xmlvend/base/2.1/schema";
pub(crate) const REVENUE: &str = "http://www.nrs.eskom.co.za/xmlvend/revenue/2.1/schema";
pub(crate) const SOAP_1_1: &str = "http://schemas.xmlsoap.org/soap/envelope/";
pub(crate) const SOAP_1_2: &str = "http://www.w3.org/2003/05/soap-envelope";
pub(crate) const SCHEMA_INSTANCE: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// The namespace of an element. It is the namespace of the schema that declares the enclosing type, so `idMethod` is in
/// the base schema within a vend and in the revenue schema within a customer enquiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Namespace {
    Base,
    Revenue,
    Soap11,
    Soap12,
    Foreign,
}

impl Namespace {
    pub(crate) fn of(uri: &str) -> Self {
        match uri {
            BASE => Self::Base,
            REVENUE => Self::Revenue,
            SOAP_1_1 => Self::Soap11,
            SOAP_1_2 => Self::Soap12,
            _ => Self::Foreign,
        }
    }
}
