//! The addresses of a vendor whose interface has one base address.

use reqwest::Url;

/// The base address in a setting, if it is one: HTTP or HTTPS, without a query and without a fragment.
pub fn base_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let is_plain = url.query().is_none() && url.fragment().is_none();
    let is_http = matches!(url.scheme(), "http" | "https");
    (is_http && is_plain).then_some(url)
}

/// An address below a [base address](base_url), whether that ends with a slash or not. Each segment is escaped.
///
/// # Panics
/// If `base` is not an address of HTTP.
pub fn below<'a>(base: &Url, path: impl IntoIterator<Item = &'a str>) -> Url {
    let mut url = base.clone();
    let mut segments = url.path_segments_mut().expect("an http address has a path");
    segments.pop_if_empty().extend(path);
    drop(segments);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_below_the_base_address_with_or_without_a_final_slash() {
        for base in ["http://host/reloadly/topups", "http://host/reloadly/topups/"] {
            let url = below(&base_url(base).unwrap(), ["topups", "a/b"]);
            assert_eq!(url.as_str(), "http://host/reloadly/topups/topups/a%2Fb");
        }
        for base in ["http://host/api", "http://host/api/"] {
            assert_eq!(below(&base_url(base).unwrap(), ["pay"]).as_str(), "http://host/api/pay");
        }
    }

    #[test]
    fn a_base_address_is_of_http_and_has_no_query_and_no_fragment() {
        for wrong in ["", "host/api", "ftp://host/api", "mailto:a@b", "http://host/?a=1", "http://host/#a"] {
            assert_eq!(base_url(wrong), None, "{wrong}");
        }
    }
}
