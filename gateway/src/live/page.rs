//! The page itself: one document, without anything from elsewhere.

use axum::body::Body;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Response};

/// The page, with a policy that lets it run its own script and reach its own events, and nothing else.
pub(super) fn response() -> Response<Body> {
    let mut response = Response::new(Body::from(PAGE));
    let headers: [(HeaderName, &'static str); 4] = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CONTENT_SECURITY_POLICY, POLICY),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

const PAGE: &str = concat!(
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>gateway · live</title>\n<style>\n",
    include_str!("live.css"),
    "</style>\n</head>\n<body>\n",
    include_str!("live.html"),
    "<script>\n",
    include_str!("live.js"),
    "</script>\n</body>\n</html>\n"
);
/// Nothing a model wrote becomes an element: the script only sets text. `'unsafe-inline'` is for the page's own script and
/// style, and no other source of either is allowed.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
