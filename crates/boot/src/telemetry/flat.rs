//! One JSON object per line, with the fields of every span around the event beside the event's own. A search for a
//! request id therefore finds every line that was logged for that request.

use std::{error::Error, fmt};

use serde_json::{Map, Value};
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    fmt::{
        FmtContext, FormatEvent, FormattedFields,
        format::{JsonFields, Writer},
        time::{FormatTime, SystemTime},
    },
    registry::{LookupSpan, Scope},
};

/// The format. If names collide, the inner span's field wins, and the event's own field wins over all.
#[derive(Debug)]
pub(super) struct Flat;

impl<S> FormatEvent<S, JsonFields> for Flat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, JsonFields>,
        mut out: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = Line::default();
        for span in context.event_scope().into_iter().flat_map(Scope::from_root) {
            let extensions = span.extensions();
            let fields = extensions.get::<FormattedFields<JsonFields>>();
            // The fields of a span without fields are formatted as an empty text.
            if let Some(Ok(Value::Object(fields))) = fields.map(|fields| serde_json::from_str(fields)) {
                line.0.extend(fields);
            }
        }
        event.record(&mut line);
        let mut timestamp = String::new();
        SystemTime.format_time(&mut Writer::new(&mut timestamp))?;
        let metadata = event.metadata();
        line.put("timestamp", timestamp);
        line.put("level", metadata.level().as_str());
        line.put("target", metadata.target());
        writeln!(out, "{}", Value::Object(line.0))
    }
}

/// The fields of a line while it is built.
#[derive(Default)]
struct Line(Map<String, Value>);

impl Line {
    fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field.name(), value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field.name(), value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field.name(), value);
    }

    /// The error with all its causes: an error in this workspace does not repeat its source.
    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        let mut causes = value.to_string();
        let mut error = value;
        while let Some(source) = error.source() {
            causes.extend([": ", &source.to_string()]);
            error = source;
        }
        self.put(field.name(), causes);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use tracing_subscriber::fmt::MakeWriter;

    use super::*;

    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<'a> MakeWriter<'a> for Buffer {
        type Writer = Self;

        fn make_writer(&'a self) -> Self {
            self.clone()
        }
    }

    #[derive(Debug, thiserror::Error)]
    #[error("the outcome was not acknowledged")]
    struct Outer(#[source] Inner);

    #[derive(Debug, thiserror::Error)]
    #[error("the connection broke")]
    struct Inner;

    fn written(say: impl FnOnce()) -> Vec<Value> {
        let buffer = Buffer::default();
        let log = tracing_subscriber::fmt().fmt_fields(JsonFields::new()).event_format(Flat);
        tracing::subscriber::with_default(log.with_writer(buffer.clone()).finish(), say);
        let text = String::from_utf8(buffer.0.lock().unwrap().clone()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn a_line_deep_inside_carries_the_name_of_its_request() {
        let lines = written(|| {
            let request = tracing::info_span!("request", request_id = "till-7", path = "/confirm");
            let _request = request.entered();
            let purchase = tracing::info_span!("purchase", purchase = 42_i64, path = "inner");
            let _purchase = purchase.entered();
            tracing::info!(took_ms = 7_u64, is_final = true, "ended");
        });
        let mut line = lines[0].clone();
        let timestamp = line.as_object_mut().unwrap().remove("timestamp").unwrap();
        assert!(timestamp.as_str().unwrap().ends_with('Z'), "{timestamp}");
        let expected = serde_json::json!({
            "level": "INFO", "target": "boot::telemetry::flat::tests", "message": "ended", "took_ms": 7,
            "is_final": true, "request_id": "till-7", "purchase": 42, "path": "inner",
        });
        assert_eq!(line, expected);
    }

    #[test]
    fn an_error_is_written_with_its_causes_and_a_line_is_one_line() {
        let lines = written(|| {
            let error = Outer(Inner);
            let cause: &(dyn Error + 'static) = &error;
            tracing::error!(cause, said = "two\nlines", "a record failed");
        });
        assert_eq!(lines[0]["cause"], "the outcome was not acknowledged: the connection broke");
        assert_eq!(lines[0]["said"], "two\nlines");
        assert_eq!(lines.len(), 1);
    }

    #[test]
    fn a_line_outside_every_span_is_as_good() {
        let lines = written(|| tracing::warn!("cold"));
        assert_eq!((&lines[0]["message"], &lines[0]["level"]), (&"cold".into(), &"WARN".into()));
    }
}
