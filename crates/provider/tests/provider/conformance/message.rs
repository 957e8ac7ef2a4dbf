//! The protocol of a small vendor: lines of `name=value`.

/// A message: its pairs, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message(Vec<(String, String)>);

impl Message {
    pub fn of(kind: &str) -> Self {
        Self::default().with("kind", &kind)
    }

    pub fn with(mut self, name: &str, value: &dyn ToString) -> Self {
        self.0.push((name.to_owned(), value.to_string()));
        self
    }

    pub fn set(&mut self, name: &str, value: &str) {
        for (known, old) in &mut self.0 {
            if known == name {
                value.clone_into(old);
            }
        }
    }

    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(known, _value)| known != name);
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _value)| known == name).map(|(_name, value)| value.as_str())
    }

    pub fn kind(&self) -> &str {
        self.get("kind").unwrap_or_default()
    }

    /// Puts this message into another one, with a prefix before each name.
    pub fn within(self, outer: Self, prefix: &str) -> Self {
        let inner = self.0.into_iter().map(|(name, value)| (format!("{prefix}{name}"), value));
        Self(outer.0.into_iter().chain(inner).collect())
    }

    /// The inner message: the pairs whose names have this prefix.
    pub fn inner(&self, prefix: &str) -> Self {
        let named = |(name, value): &(String, String)| {
            name.strip_prefix(prefix).map(|name| (name.to_owned(), value.clone()))
        };
        Self(self.0.iter().filter_map(named).collect())
    }

    pub fn read(body: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(body).ok()?;
        let pair = |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        let message = Self(text.lines().map(pair).collect::<Option<_>>()?);
        (!message.kind().is_empty()).then_some(message)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|(name, value)| format!("{name}={value}\n").into_bytes()).collect()
    }
}
