//! What every answer needs, on every surface: the texts, the clock, the zone, the links.

use std::{sync::Arc, time::Duration};

use actix_web::{HttpRequest, web};
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use tokio::sync::Semaphore;

use clock::SharedClock;
use error_codes::ErrorCode;
use messages::Messages;
use traces::Traces;

use crate::{
    Surface, WebSettings, WebSettingsError, date_time, envelope::Versioned, limits::Limits, phone,
    surface::Served,
};

/// Made once by the binary, which puts it into the application as [`web::Data`].
#[derive(Debug)]
pub struct SharedState {
    messages: Messages,
    clock: SharedClock,
    zone: Tz,
    public_url: String,
    surfaces: Vec<Arc<Served>>,
    versioned: Arc<Served>,
    pub(crate) head_bytes_max: usize,
    pub(crate) body_bytes_max: usize,
    pub(crate) body_within: Duration,
    pub(crate) limits: Limits,
    /// For bodies that are larger than `body_bytes_max`.
    pub(crate) large_bodies: Arc<Semaphore>,
    pub(crate) traces: Traces,
}

/// How many large bodies are read and held at a time.
const LARGE_BODIES_MAX: usize = 4;

impl SharedState {
    /// Checks the settings and reads the texts.
    pub fn new(settings: &WebSettings, clock: SharedClock) -> Result<Self, WebSettingsError> {
        phone::read_the_number_plan();
        Ok(Self {
            messages: Messages::new(),
            clock,
            zone: settings.zone()?,
            public_url: settings.checked_url()?.to_owned(),
            surfaces: Vec::new(),
            versioned: Arc::new(Served::new(Versioned, settings.checked_url()?)),
            head_bytes_max: settings.head_bytes_max,
            body_bytes_max: settings.body_bytes_max,
            body_within: Duration::from_millis(settings.body_within_ms),
            limits: Limits::new(&settings.limits, &settings.trusted_proxies)?,
            large_bodies: Arc::new(Semaphore::new(LARGE_BODIES_MAX)),
            traces: Traces::off(),
        })
    }

    /// Adds a surface, which answers in its own form below its paths.
    #[must_use]
    pub fn with_surface(mut self, surface: impl Surface + 'static) -> Self {
        self.surfaces.push(Arc::new(Served::new(surface, &self.public_url)));
        self
    }

    /// Reports the requests that are about a purchase to these traces.
    #[must_use]
    pub fn with_traces(mut self, traces: Traces) -> Self {
        self.traces = traces;
        self
    }

    /// The surface to which a path belongs.
    pub(crate) fn surface_of(&self, path: &str) -> Arc<Served> {
        let own = self.surfaces.iter().find(|surface| surface.has(path));
        Arc::clone(own.unwrap_or(&self.versioned))
    }

    /// The shared state of this application.
    pub fn of(request: &HttpRequest) -> web::Data<Self> {
        request.app_data::<web::Data<Self>>().expect("the binary provides the shared state").clone()
    }

    /// All messages.
    pub const fn messages(&self) -> &Messages {
        &self.messages
    }

    /// The clock.
    pub const fn clock(&self) -> &SharedClock {
        &self.clock
    }

    /// The service's own time zone.
    pub const fn zone(&self) -> Tz {
        self.zone
    }

    /// `YYYY-MM-DD HH:MM:SS` in the service's zone (specification, section 2.1).
    pub fn date(&self, at: DateTime<Utc>) -> String {
        date_time(at.with_timezone(&self.zone).naive_local())
    }

    /// The address under which integrators reach this server, without a slash at its end.
    pub fn public_url(&self) -> &str {
        &self.public_url
    }

    /// The page that documents a code.
    pub fn doc_url(&self, code: ErrorCode) -> String {
        format!("{}/docs/errors/{code}", self.public_url)
    }
}

#[cfg(test)]
mod tests {
    use clock::ManualClock;

    use super::*;

    fn shared(settings: &WebSettings) -> Result<SharedState, WebSettingsError> {
        SharedState::new(settings, Arc::new(ManualClock::at(DateTime::UNIX_EPOCH)))
    }

    #[test]
    fn dates_are_written_in_the_zone_of_the_service() {
        let at = DateTime::from_timestamp(1_795_172_400, 0).unwrap();
        let in_gaborone = shared(&WebSettings::default()).unwrap();
        assert_eq!(at.to_rfc3339(), "2026-11-20T11:00:00+00:00");
        assert_eq!(in_gaborone.date(at), "2026-11-20 13:00:00");
    }

    #[test]
    fn unusable_settings_are_named() {
        let nowhere = WebSettings { time_zone: "Africa/Nowhere".to_owned(), ..WebSettings::default() };
        assert_eq!(
            shared(&nowhere).unwrap_err(),
            WebSettingsError::UnknownTimeZone("Africa/Nowhere".to_owned())
        );
        for url in ["api.example.com", "https://api.example.com/"] {
            let settings = WebSettings { public_url: url.to_owned(), ..WebSettings::default() };
            assert_eq!(shared(&settings).unwrap_err(), WebSettingsError::BadPublicUrl(url.to_owned()));
        }
    }
}
