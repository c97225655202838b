//! The messages of Envoy's `envoy.service.ext_proc.v3`, as far as an external processor for HTTP needs them.
//!
//! Field numbers are those of Envoy's `external_processor.proto`; fields that are not listed are skipped when a message is
//! read. Bodies are [`Bytes`], so that a chunk is not copied between Envoy and the layer.

use bytes::Bytes;

/// The name of the gRPC service.
pub const SERVICE: &str = "envoy.service.ext_proc.v3.ExternalProcessor";
/// The path of its only method.
pub const PROCESS: &str = "/envoy.service.ext_proc.v3.ExternalProcessor/Process";

/// A message from Envoy: one part of the request or of the response.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ProcessingRequest {
    /// The part.
    #[prost(oneof = "Part", tags = "2, 3, 4, 5, 6, 7")]
    pub part: Option<Part>,
    /// Whether Envoy ignores every answer.
    #[prost(bool, tag = "10")]
    pub observability_mode: bool,
    /// How Envoy is configured; in the first message only.
    #[prost(message, optional, tag = "11")]
    pub protocol_config: Option<ProtocolConfiguration>,
}

/// A part of the request or of the response.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Part {
    /// The request's head.
    #[prost(message, tag = "2")]
    RequestHeaders(HttpHeaders),
    /// The response's head.
    #[prost(message, tag = "3")]
    ResponseHeaders(HttpHeaders),
    /// A piece of the request's body.
    #[prost(message, tag = "4")]
    RequestBody(HttpBody),
    /// A piece of the response's body.
    #[prost(message, tag = "5")]
    ResponseBody(HttpBody),
    /// The request's trailers.
    #[prost(message, tag = "6")]
    RequestTrailers(HttpTrailers),
    /// The response's trailers.
    #[prost(message, tag = "7")]
    ResponseTrailers(HttpTrailers),
}

/// How bodies are sent; the value 4 of both modes is full duplex.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct ProtocolConfiguration {
    /// The mode of request bodies.
    #[prost(int32, tag = "1")]
    pub request_body_mode: i32,
    /// The mode of response bodies.
    #[prost(int32, tag = "2")]
    pub response_body_mode: i32,
}

/// `FULL_DUPLEX_STREAMED`, the only body mode in which an answer can be withheld while the body is read on.
pub const FULL_DUPLEX_STREAMED: i32 = 4;

/// The names of the body modes, by their numbers.
pub(crate) const BODY_MODES: [&str; 6] =
    ["NONE", "STREAMED", "BUFFERED", "BUFFERED_PARTIAL", "FULL_DUPLEX_STREAMED", "GRPC"];

/// A head.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct HttpHeaders {
    /// The headers, pseudo headers among them.
    #[prost(message, optional, tag = "1")]
    pub headers: Option<HeaderMap>,
    /// Whether there is neither a body nor trailers.
    #[prost(bool, tag = "3")]
    pub end_of_stream: bool,
}

/// A piece of a body.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct HttpBody {
    /// The bytes.
    #[prost(bytes = "bytes", tag = "1")]
    pub body: Bytes,
    /// Whether it is the last piece, and no trailers follow.
    #[prost(bool, tag = "2")]
    pub end_of_stream: bool,
}

/// Trailers.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct HttpTrailers {
    /// The trailers.
    #[prost(message, optional, tag = "1")]
    pub trailers: Option<HeaderMap>,
}

/// A list of headers.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct HeaderMap {
    /// In order, one entry for each value.
    #[prost(message, repeated, tag = "1")]
    pub headers: Vec<HeaderValue>,
}

/// A header.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct HeaderValue {
    /// Its name, in lower case.
    #[prost(string, tag = "1")]
    pub key: String,
    /// Its value, from older Envoys.
    #[prost(string, tag = "2")]
    pub value: String,
    /// Its value.
    #[prost(bytes = "bytes", tag = "3")]
    pub raw_value: Bytes,
}

/// A message to Envoy.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ProcessingResponse {
    /// What becomes of a part.
    #[prost(oneof = "Reply", tags = "1, 2, 3, 4, 5, 6, 7")]
    pub reply: Option<Reply>,
}

/// What becomes of a part.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Reply {
    /// The request's head goes to the upstream.
    #[prost(message, tag = "1")]
    RequestHeaders(HeadersResponse),
    /// The response's head goes to the client.
    #[prost(message, tag = "2")]
    ResponseHeaders(HeadersResponse),
    /// A piece of a body goes to the upstream.
    #[prost(message, tag = "3")]
    RequestBody(BodyResponse),
    /// A piece of a body goes to the client.
    #[prost(message, tag = "4")]
    ResponseBody(BodyResponse),
    /// Trailers go to the upstream.
    #[prost(message, tag = "5")]
    RequestTrailers(TrailersResponse),
    /// Trailers go to the client.
    #[prost(message, tag = "6")]
    ResponseTrailers(TrailersResponse),
    /// An answer that is not the upstream's goes to the client.
    #[prost(message, tag = "7")]
    Immediate(ImmediateResponse),
}

/// What becomes of a head.
#[derive(Clone, PartialEq, prost::Message)]
pub struct HeadersResponse {
    /// The changes.
    #[prost(message, optional, tag = "1")]
    pub response: Option<CommonResponse>,
}

/// What becomes of a body.
#[derive(Clone, PartialEq, prost::Message)]
pub struct BodyResponse {
    /// The changes.
    #[prost(message, optional, tag = "1")]
    pub response: Option<CommonResponse>,
}

/// What becomes of trailers.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct TrailersResponse {
    /// The changes.
    #[prost(message, optional, tag = "1")]
    pub header_mutation: Option<HeaderMutation>,
}

/// Changes to a head or a body.
#[derive(Clone, PartialEq, prost::Message)]
pub struct CommonResponse {
    /// Changes to headers.
    #[prost(message, optional, tag = "2")]
    pub header_mutation: Option<HeaderMutation>,
    /// Changes to a body.
    #[prost(message, optional, tag = "3")]
    pub body_mutation: Option<BodyMutation>,
}

/// Changes to a body.
#[derive(Clone, PartialEq, prost::Message)]
pub struct BodyMutation {
    /// The change.
    #[prost(oneof = "Mutation", tags = "3")]
    pub mutation: Option<Mutation>,
}

/// A change to a body.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Mutation {
    /// The next piece of the body, in full duplex.
    #[prost(message, tag = "3")]
    Streamed(StreamedBodyResponse),
}

/// A piece of a body that leaves.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct StreamedBodyResponse {
    /// The bytes.
    #[prost(bytes = "bytes", tag = "1")]
    pub body: Bytes,
    /// Whether it is the last piece.
    #[prost(bool, tag = "2")]
    pub end_of_stream: bool,
}

/// An answer in place of the upstream's.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct ImmediateResponse {
    /// Its status.
    #[prost(message, optional, tag = "1")]
    pub status: Option<HttpStatus>,
    /// Its headers.
    #[prost(message, optional, tag = "2")]
    pub headers: Option<HeaderMutation>,
    /// Its body.
    #[prost(bytes = "bytes", tag = "3")]
    pub body: Bytes,
    /// What Envoy's access log says of it (`RESPONSE_CODE_DETAILS`).
    #[prost(string, tag = "5")]
    pub details: String,
}

/// A status.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct HttpStatus {
    /// Its code.
    #[prost(int32, tag = "1")]
    pub code: i32,
}

/// Changes to headers.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct HeaderMutation {
    /// Headers that are set.
    #[prost(message, repeated, tag = "1")]
    pub set_headers: Vec<HeaderValueOption>,
    /// Headers that are removed.
    #[prost(string, repeated, tag = "2")]
    pub remove_headers: Vec<String>,
}

/// A header that is set.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct HeaderValueOption {
    /// The header.
    #[prost(message, optional, tag = "1")]
    pub header: Option<HeaderValue>,
    /// What becomes of values that are there: [`APPEND`] or [`OVERWRITE`].
    #[prost(int32, tag = "3")]
    pub append_action: i32,
    /// Whether a header without a value is kept.
    #[prost(bool, tag = "4")]
    pub keep_empty_value: bool,
}

/// `APPEND_IF_EXISTS_OR_ADD`.
pub const APPEND: i32 = 0;
/// `OVERWRITE_IF_EXISTS_OR_ADD`.
pub const OVERWRITE: i32 = 2;

impl From<Reply> for ProcessingResponse {
    fn from(reply: Reply) -> Self {
        Self { reply: Some(reply) }
    }
}

/// A piece of a body, as an answer.
pub(crate) fn piece(body: Bytes, end_of_stream: bool) -> BodyResponse {
    let mutation = Some(Mutation::Streamed(StreamedBodyResponse { body, end_of_stream }));
    BodyResponse {
        response: Some(CommonResponse {
            body_mutation: Some(BodyMutation { mutation }),
            ..CommonResponse::default()
        }),
    }
}

/// Changes to a head, as an answer.
pub(crate) fn head(mutation: HeaderMutation) -> HeadersResponse {
    HeadersResponse {
        response: Some(CommonResponse { header_mutation: Some(mutation), ..CommonResponse::default() }),
    }
}
