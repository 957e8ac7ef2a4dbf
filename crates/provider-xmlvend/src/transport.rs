//! One exchange with the gateway, with the SOAP headers.

use std::time::Duration;

use provider::Gate;
use provider_http::header::{self, HeaderMap, HeaderName, HeaderValue};
use provider_http::{NoReply, Outgoing, Transport, TransportSettings, Url};

use crate::envelope;
use crate::gzip;
use crate::request::Message;
use crate::settings::{SettingsError, SoapVersion, XmlVendSettings};

const OPENED_BYTES_MAX: u64 = 1024 * 1024;

const SOAP_ACTION: HeaderName = HeaderName::from_static("soapaction");

/// The client of one gateway.
#[derive(Clone, Debug)]
pub(crate) struct Gateway {
    transport: Transport,
    endpoint: Url,
    soap: SoapVersion,
}

impl Gateway {
    pub(crate) fn new(settings: &XmlVendSettings) -> Result<Self, SettingsError> {
        let endpoint = settings.endpoint_url()?;
        let transport = Transport::new(TransportSettings {
            over_tls: endpoint.scheme() == "https",
            client_certificate_pem: settings.client_certificate_pem.as_ref(),
            extra_root_certificate_pem: settings.extra_root_certificate_pem.as_deref(),
            ..TransportSettings::connecting_within(Duration::from_millis(settings.connect_timeout_ms))
        });
        Ok(Self { transport: transport.map_err(SettingsError::Client)?, endpoint, soap: settings.soap })
    }

    /// Sends one message and returns the decompressed bytes of the reply. If the decompression fails, the bytes are
    /// returned unchanged, and the parser rejects them. The HTTP status is ignored: a fault arrives with status 500,
    /// and only the body proves anything.
    pub(crate) async fn exchange(
        &self,
        message: Message<'_>,
        gate: &Gate,
        within: Duration,
    ) -> Result<Vec<u8>, NoReply> {
        let outgoing = Outgoing {
            url: self.endpoint.clone(),
            headers: headers(self.soap, message.action),
            body: envelope::seal(self.soap, message.content),
        };
        let reply = self.transport.post(outgoing, gate, within).await?;
        Ok(gzip::opened(&reply.body, OPENED_BYTES_MAX).unwrap_or(reply.body))
    }
}

fn headers(soap: SoapVersion, action: &str) -> HeaderMap {
    let value = |text: &str| HeaderValue::from_str(text).expect("the names of our operations are ASCII");
    let mut headers = HeaderMap::new();
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    match soap {
        SoapVersion::V1_1 => {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/xml; charset=utf-8"));
            headers.insert(SOAP_ACTION, value(&format!("\"{action}\"")));
        }
        SoapVersion::V1_2 => {
            let content_type = format!("application/soap+xml; charset=utf-8; action=\"{action}\"");
            headers.insert(header::CONTENT_TYPE, value(&content_type));
        }
    }
    headers
}
