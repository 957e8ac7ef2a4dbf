//! Who reads a page: in which language, and where to come back to.

use actix_web::{
    HttpRequest,
    http::{
        Method,
        header::{ACCEPT_LANGUAGE, HeaderMap},
    },
    web::Data,
};
use messages::Language;

use crate::{cookie, server::Shared, translator::Translator};

/// The reader of one page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reader {
    pub(crate) translator: Translator,
    /// The address of this page, or of the page with the form whose answer this is.
    pub(crate) address: String,
    /// Whether the person may sign in with an account at an OpenID provider.
    pub(crate) may_use_account: bool,
}

impl Reader {
    pub(crate) fn of(request: &HttpRequest) -> Self {
        let path = request.path();
        let address = if request.method() == Method::GET {
            request.uri().path_and_query().map_or_else(|| path.to_owned(), ToString::to_string)
        } else {
            path.rsplit_once('/').map_or("", |(page, _act)| page).to_owned()
        };
        let shared = request.app_data::<Data<Shared>>();
        let may_use_account = shared.is_some_and(|shared| shared.openid.is_some());
        Self { translator: Translator(language(request)), address, may_use_account }
    }
}

/// What the person has chosen, or else what the browser asks for.
fn language(request: &HttpRequest) -> Language {
    let chosen = cookie::language(request);
    chosen.unwrap_or_else(|| Language::accepted(accepted(request.headers())))
}

fn accepted(headers: &HeaderMap) -> &str {
    headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// The address of a page of ours. Another site's address becomes that of the overview.
pub(crate) fn own_page(address: &str) -> &str {
    let is_own = address.starts_with('/')
        && !address.starts_with("//")
        && !address.contains(['\\', '\r', '\n', '\t', '\0']);
    if is_own { address } else { "/" }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn a_page_comes_back_to_itself_and_the_answer_to_a_form_to_the_page_of_the_form() {
        let page = TestRequest::get().uri("/search?name=0704").to_http_request();
        assert_eq!(Reader::of(&page).address, "/search?name=0704");
        let answer = TestRequest::post().uri("/purchases/17/resolve").to_http_request();
        assert_eq!(Reader::of(&answer).address, "/purchases/17");
    }

    #[test]
    fn the_choice_of_the_person_goes_before_that_of_the_browser() {
        let asks = |cookie: &'static str| {
            let request = TestRequest::get().insert_header(("Accept-Language", "pt-MZ, fr;q=0.5"));
            Reader::of(&request.insert_header(("Cookie", cookie)).to_http_request()).translator.0
        };
        assert_eq!(asks("console=1"), Language::Portuguese);
        assert_eq!(asks("console=1; language=fr"), Language::French);
        assert_eq!(asks("language=xx"), Language::Portuguese);
    }

    #[test]
    fn no_link_leads_to_another_site() {
        for own in ["/", "/search?name=a"] {
            assert_eq!(own_page(own), own);
        }
        for foreign in ["//evil.example", "https://evil.example", "/\\evil.example", "", "/a\r\nb"] {
            assert_eq!(own_page(foreign), "/", "{foreign:?}");
        }
    }
}
