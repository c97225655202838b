//! Attempts to get a call past the layer. The upstream is lax: whatever it is asked, it answers with a call of `rm`.
//! Each test's name says how it is tried; what is asserted is the exact outcome.

use crate::kit::{
    Answer, Gate, UpstreamBody, events, gzip, json, post, reply, script, script_without_rm, viewed,
    viewed_whole,
};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use stream_http::{Facts, Plan, PolicyLayer, Settings};
use stream_testkit::{Script, WireKind};

/// Tried by the path: the answer is policed all the same.
macro_rules! policed_paths {
    ($($name:ident: $method:ident $path:expr;)*) => {
        $(#[tokio::test]
        async fn $name() {
            let answer = lax().ask(request(&Method::$method, $path)).await;
            assert_policed(&answer);
        })*
    };
}

/// Tried by the path: the request does not reach the upstream.
macro_rules! refused_paths {
    ($($name:ident: $method:ident $path:expr;)*) => {
        $(#[tokio::test]
        async fn $name() {
            let gate = lax();
            let answer = gate.ask(request(&Method::$method, $path)).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN);
            assert_eq!(gate.asked().len(), 0);
        })*
    };
}

/// Tried by the answer: it is refused, and nothing of it leaves.
macro_rules! unreadable_answers {
    ($($name:ident: $reply:expr;)*) => {
        $(#[tokio::test]
        async fn $name() {
            let answer = Gate::no_rm(|| $reply).post("/v1/chat/completions").await;
            assert_refused(&answer);
        })*
    };
}

/// Tried by the answer: it is read for what it is.
macro_rules! policed_answers {
    ($($name:ident: $reply:expr;)*) => {
        $(#[tokio::test]
        async fn $name() {
            assert_policed(&Gate::no_rm(|| $reply).post("/v1/chat/completions").await);
        })*
    };
}

policed_paths! {
    a_letter_of_the_path_is_percent_encoded: POST "/v1/%63hat/completions";
    a_letter_of_the_path_is_encoded_twice: POST "/v1/%2563hat/completions";
    the_slash_in_the_path_is_encoded: POST "/v1/chat%2Fcompletions";
    slashes_are_doubled: POST "//v1///chat//completions";
    a_slash_trails: POST "/v1/chat/completions/";
    an_encoded_slash_trails: POST "/v1/chat/completions%2f";
    the_path_is_in_upper_case: POST "/V1/CHAT/COMPLETIONS";
    the_path_goes_through_a_plain_route: POST "/v1/models/../chat/completions";
    the_path_goes_through_a_plain_route_with_encoded_dots: POST "/v1/models/%2e%2e/chat/completions";
    backslashes_stand_for_slashes: POST "/v1%5cchat%5ccompletions";
    a_parameter_hangs_on_the_path: POST "/v1/chat/completions;models";
    a_dot_trails: POST "/v1/chat/completions.";
    a_blank_trails: POST "/v1/chat/completions%20";
    another_method_asks: PUT "/v1/chat/completions";
    a_get_asks: GET "/v1/chat/completions";
    the_uri_is_absolute: POST "http://upstream.example/v1/chat/completions";
    the_plain_route_is_in_the_query: POST "/v1/chat/completions?/v1/models";
    a_stored_answer_is_called_models: GET "/v1/chat/completions/models";
    an_azure_deployment_is_called_embeddings: POST "/openai/deployments/embeddings/chat/completions";
}

refused_paths! {
    a_zero_byte_cuts_the_path: POST "/v1/models%00/../chat";
    a_line_break_hides_in_the_path: POST "/v1/embeddings%0d%0a";
    the_encoding_never_settles: POST "/v1/%2525252525252563hat/completions";
    a_plain_route_is_reached_through_dots: POST "/v1/completions/../embeddings";
    a_plain_route_is_left_through_encoded_dots: POST "/v1/embeddings/..%2fcompletions";
    a_model_is_posted_to: POST "/models/gpt2";
    legacy_completions_are_asked: POST "/v1/completions";
    legacy_completions_of_an_engine_are_asked: POST "/v1/engines/embeddings/completions";
    anthropics_legacy_completions_are_asked: POST "/v1/complete";
    a_batch_is_made: POST "/v1/batches";
    the_results_of_a_batch_are_fetched: GET "/v1/messages/batches/b/results";
    a_file_with_results_is_fetched: GET "/v1/files/f/content";
    a_batch_of_gemini_is_made: POST "/v1beta/models/g:batchGenerateContent";
    an_unknown_verb_of_gemini_is_asked: POST "/v1beta/models/g:generateAnswer";
    a_response_is_read_back_through_its_successors_input: GET "/v1/responses/r/input_items";
    a_response_is_compacted: POST "/v1/responses/compact";
    a_conversation_is_read_back: GET "/v1/conversations/c/items";
    an_assistant_runs: POST "/v1/threads/t/runs";
    a_realtime_session_is_opened: GET "/v1/realtime";
    an_api_nobody_knows_is_asked: POST "/api/chat";
}

unreadable_answers! {
    the_answer_is_compressed_and_does_not_say_so: json(gzip(&whole()));
    the_answer_is_at_another_place: moved(StatusCode::FOUND);
    the_answer_is_at_another_place_for_good: moved(StatusCode::PERMANENT_REDIRECT);
    the_answer_is_one_of_many_at_other_places: moved(StatusCode::MULTIPLE_CHOICES);
    the_answer_is_coded_in_what_cannot_be_read: coded("br", whole());
    the_answer_is_compressed_twice: coded("gzip, gzip", gzip(&gzip(&whole())));
    the_answer_says_it_is_compressed_and_is_not: coded("gzip", whole());
    the_answer_is_in_utf_16: json(utf16(&whole()));
    the_answer_starts_with_a_byte_order_mark: json([b"\xef\xbb\xbf", &whole()[..]].concat());
    the_answer_is_lines_of_json: json([&whole()[..], b"\n", &whole()].concat());
    the_answer_is_a_script: reply("text/javascript", [b"callback(", &whole()[..], b")"].concat());
    the_answer_is_in_parts: reply("multipart/mixed; boundary=b", [b"--b\r\n\r\n", &whole()[..], b"\r\n--b--"].concat());
    the_answer_is_binary: reply("application/x-protobuf", [b"\x0a\x40\x12", &whole()[..]].concat());
    the_answer_is_another_apis: json(script().whole(WireKind::AnthropicMessages));
    the_answer_is_wrapped: json(format!(r#"{{"result":{}}}"#, text(&whole())));
    the_answer_is_wrapped_and_says_it_was_deleted: json(format!(r#"{{"deleted":true,"result":{}}}"#, text(&whole())));
    the_answer_is_in_an_array: json(format!("[{}]", text(&whole())));
    the_answer_is_a_part: partial(whole());
    the_answer_says_its_choices_twice: json(text(&whole()).replacen('{', r#"{"choices":[],"#, 1));
    the_answer_spells_its_calls_in_another_case: json(text(&whole()).replace("tool_calls\":[", "Tool_Calls\":["));
    a_list_spells_its_data_in_another_case: json(format!(r#"{{"object":"list","Data":[{}],"data":[]}}"#, text(&whole())));
    a_list_has_its_data_twice: json(format!(r#"{{"object":"list","data":[],"data":[{}]}}"#, text(&whole())));
    a_list_has_choices_too: json(text(&whole()).replacen(r#""object":"chat.completion""#, r#""object":"list","data":[]"#, 1));
    a_list_holds_another_apis_answer: json(format!(r#"{{"object":"list","data":[{}]}}"#, text(&script().whole(WireKind::AnthropicMessages))));
}

policed_answers! {
    the_answer_says_it_is_text: reply("text/plain", whole());
    the_answer_says_it_is_an_image: reply("image/png", whole());
    the_answer_does_not_say_what_it_is: reply("", whole());
    the_answer_says_it_is_events_and_is_json: reply("text/event-stream", whole());
    the_answer_is_behind_much_white_space: json([&[b' '; 100_000][..], &whole()].concat());
    the_answer_is_streamed_though_nobody_asked: events(stream());
    the_stream_says_it_is_json: reply("application/json", stream());
    the_stream_does_not_say_what_it_is: reply("", stream());
    the_stream_starts_with_a_comment_and_says_it_is_text: reply("text/plain", [b": hi\n\n", &stream()[..]].concat());
    the_stream_is_compressed_and_says_it_is_json: coded("gzip", gzip(&stream()));
    the_answer_is_a_kind_of_success: status(StatusCode::CREATED, whole());
    the_answer_is_no_success: status(StatusCode::BAD_REQUEST, whole());
}

#[tokio::test]
async fn an_error_holds_the_call_that_could_not_be_parsed() {
    let error =
        r#"{"error":{"message":"bad call","code":"tool_use_failed","failed_generation":"rm secret"}}"#;
    let gate = Gate::no_rm(move || status(StatusCode::BAD_REQUEST, error));
    let answer = gate.post("/v1/chat/completions").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert_eq!(answer.text(), r#"{"error":{"message":"bad call","code":"tool_use_failed"}}"#);
}

/// Some programs read a call from an error without a look at its status.
#[tokio::test]
async fn an_error_that_cannot_be_read_is_replaced_by_the_apis_own() {
    let utf32: Vec<u8> = text(&whole()).chars().flat_map(|char| u32::from(char).to_le_bytes()).collect();
    let marked = [b"\xef\xbb\xbf", &whole()[..]].concat();
    let not_a_number = text(&whole()).replacen('{', r#"{"x":NaN,"#, 1);
    let of_coding = |coding: &'static str| {
        let mut response = coded(coding, whole());
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response
    };
    for (body, why) in [
        (utf16(&whole()), "text in another encoding, or with parts of an answer in it"),
        (utf32, "malformed JSON"),
        (marked, "malformed JSON"),
        (not_a_number.into_bytes(), "malformed JSON"),
    ] {
        let body = Bytes::from(body);
        let gate = Gate::no_rm(move || status(StatusCode::BAD_REQUEST, body.clone()));
        let answer = gate.post("/v1/chat/completions").await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        assert_eq!(answer.text(), replaced("invalid_request_error", why));
    }
    for coding in ["br", "zip"] {
        let answer = Gate::no_rm(move || of_coding(coding)).post("/v1/chat/completions").await;
        assert_eq!(answer.status, StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(answer.text(), replaced("server_error", "an unknown content coding"));
    }
}

/// The API's own error in the place of one that cannot be read.
fn replaced(kind: &str, why: &str) -> String {
    format!(
        r#"{{"error":{{"message":"the upstream's error could not be read by the gateway's policies: {why}","type":"{kind}","param":null,"code":null}}}}"#
    )
}

#[tokio::test]
async fn a_list_of_gemini_starts_with_an_error_and_goes_on_with_a_call() {
    for code in [StatusCode::OK, StatusCode::BAD_REQUEST] {
        let list = |script: &Script| {
            format!(
                r#"[{{"error":{{"code":400,"message":"x","status":"INVALID_ARGUMENT"}}}},{}]"#,
                text(&script.whole(WireKind::Gemini))
            )
        };
        let (came, left) = (list(&script()), list(&script_without_rm()));
        let gate = Gate::no_rm(move || status(code, came.clone()));
        let answer = gate.post("/v1beta/models/g:generateContent").await;
        assert_eq!((answer.status, answer.text()), (code, left.as_str()));
    }
}

#[tokio::test]
async fn an_error_that_is_prose_passes_as_it_came() {
    let gate = Gate::no_rm(|| {
        let mut response = reply("text/html", "<html>Bad gateway</html>");
        *response.status_mut() = StatusCode::BAD_GATEWAY;
        response
    });
    let answer = gate.post("/v1/chat/completions").await;
    assert_eq!((answer.status, answer.text()), (StatusCode::BAD_GATEWAY, "<html>Bad gateway</html>"));
}

/// Programs that do not look at the status take every line of data for an event, wherever it stands.
#[tokio::test]
async fn an_error_that_is_prose_with_an_answer_in_it_is_replaced() {
    let (whole, stream) = (text(&whole()), text(&stream()));
    for body in [
        format!("\u{b}{stream}"),
        format!("<html>\n{stream}"),
        format!("\u{1e}{whole}"),
        format!("callback({whole})"),
        format!(")]}}'\n{whole}"),
        format!("--b\r\ncontent-type: application/json\r\n\r\n{whole}\r\n--b--\r\n"),
    ] {
        let gate = Gate::no_rm(move || {
            let mut response = reply("text/html", body.clone());
            *response.status_mut() = StatusCode::BAD_GATEWAY;
            response
        });
        let answer = gate.post("/v1/chat/completions").await;
        let expected = concat!(
            r#"{"error":{"message":"the upstream's error could not be read by the gateway's policies: "#,
            r#"text in another encoding, or with parts of an answer in it","#,
            r#""type":"server_error","param":null,"code":null}}"#
        );
        assert_eq!((answer.status, answer.text()), (StatusCode::BAD_GATEWAY, expected));
    }
    let page = r#"<html><img src="data:image/png;base64,AAAA" alt="content: none">no choices</html>"#;
    let gate = Gate::no_rm(move || {
        let mut response = reply("text/html", page);
        *response.status_mut() = StatusCode::BAD_GATEWAY;
        response
    });
    assert_eq!(gate.post("/v1/chat/completions").await.text(), page);
}

/// Only a server in between, or a browser, would follow these; none of them has to.
#[tokio::test]
async fn an_answer_names_other_places_in_its_headers() {
    let gate = Gate::no_rm(|| {
        let mut response = status(StatusCode::CREATED, whole());
        for name in ["location", "refresh", "alt-svc", "x-accel-redirect"] {
            response.headers_mut().insert(name, "https://other.example/".parse().unwrap());
        }
        response
    });
    let answer = gate.post("/v1/chat/completions").await;
    assert_policed(&answer);
    for name in ["location", "refresh", "alt-svc", "x-accel-redirect"] {
        assert_eq!(answer.header(name), None, "{name}");
    }
}

/// Clients that decode by the charset of the type would read other letters than the policies did.
#[tokio::test]
async fn the_type_of_an_answer_names_another_charset() {
    let script = script_without_rm();
    let (stream, whole) = (script.bytes(WireKind::OpenAiChat), script.whole(WireKind::OpenAiChat));
    for (kind, body) in [("text/event-stream", stream), ("application/json", whole)] {
        for (said, leaves) in [
            (format!("{kind}; charset=utf-7"), kind.to_owned()),
            (format!("{kind};CharSet = \"UTF-7\""), kind.to_owned()),
            (format!("{kind}; charset*=utf-8''utf-7"), kind.to_owned()),
            (format!("{kind}; x=\"; charset=utf-7\""), kind.to_owned()),
            (format!("{kind}; charset=utf-8; charset=utf-7"), kind.to_owned()),
            (format!("{kind}; charset=utf-8"), format!("{kind}; charset=utf-8")),
            (format!("{kind}; charset=\"UTF-8\""), format!("{kind}; charset=\"UTF-8\"")),
            (format!("{kind}; profile=x"), format!("{kind}; profile=x")),
            (kind.to_owned(), kind.to_owned()),
        ] {
            let body = body.clone();
            let gate = Gate::no_rm(move || {
                let mut response = status(StatusCode::OK, body.clone());
                response.headers_mut().insert("content-type", said.parse().unwrap());
                response
            });
            let answer = gate.post("/v1/chat/completions").await;
            assert_eq!(answer.header("content-type"), Some(&*leaves));
        }
        let body = body.clone();
        let gate = Gate::no_rm(move || {
            let mut response = status(StatusCode::OK, body.clone());
            response.headers_mut().insert("content-type", kind.parse().unwrap());
            response.headers_mut().append("content-type", "text/plain; charset=utf-7".parse().unwrap());
            response
        });
        let answer = gate.post("/v1/chat/completions").await;
        assert_eq!(answer.header("content-type"), Some(kind));
    }
}

#[tokio::test]
async fn a_websocket_is_asked_for() {
    for path in ["/v1/responses", "/v1/models"] {
        let gate = lax();
        let mut request = request(&Method::GET, path);
        request.headers_mut().insert("upgrade", "websocket".parse().unwrap());
        assert_eq!(gate.ask(request).await.status, StatusCode::FORBIDDEN);
        assert_eq!(gate.asked().len(), 0);
    }
}

#[tokio::test]
async fn the_upstream_changes_the_protocol() {
    let gate = Gate::no_rm(|| status(StatusCode::SWITCHING_PROTOCOLS, whole()));
    assert_refused(&gate.post("/v1/chat/completions").await);
}

#[tokio::test]
async fn a_tunnel_is_asked_for() {
    let gate = lax();
    let request = Request::builder().method(Method::CONNECT).uri("upstream.example:443");
    let answer = gate.ask(request.body(Full::default()).unwrap()).await;
    assert_eq!((answer.status, gate.asked().len()), (StatusCode::FORBIDDEN, 0));
}

#[tokio::test]
async fn a_header_names_another_route_or_method() {
    let gate = lax();
    let mut request = request(&Method::GET, "/v1/models");
    for name in
        ["x-original-url", "x-rewrite-url", "x-http-method-override", "x-http-method", "x-method-override"]
    {
        request.headers_mut().insert(name, "/v1/completions".parse().unwrap());
    }
    gate.ask(request).await;
    assert_eq!(gate.asked()[0].headers.len(), 0);
}

#[tokio::test]
async fn a_range_is_asked_for() {
    let gate = lax();
    let mut request = post("/v1/chat/completions", "{}");
    request.headers_mut().insert("range", "bytes=300-".parse().unwrap());
    request.headers_mut().insert("if-range", "x".parse().unwrap());
    assert_policed(&gate.ask(request).await);
    let headers = &gate.asked()[0].headers;
    assert_eq!((headers.get("range"), headers.get("if-range")), (None, None));
}

#[tokio::test]
async fn a_head_is_answered_with_a_body() {
    let answer = lax().ask(request(&Method::HEAD, "/v1/chat/completions")).await;
    assert_eq!((answer.status, answer.text()), (StatusCode::OK, ""));
    assert_eq!(answer.header("content-length"), None);
}

#[tokio::test]
async fn the_request_names_two_models() {
    let gate = lax();
    let answer = gate.ask(post("/v1/chat/completions", r#"{"model":"allowed","model":"other"}"#)).await;
    assert_eq!((answer.status, gate.asked().len()), (StatusCode::BAD_REQUEST, 0));
}

#[tokio::test]
async fn the_request_hides_its_tools_in_a_coding() {
    let layer = PolicyLayer::new(|facts: &Facts| {
        assert_eq!(facts.tools()[0].name(), "rm");
        Plan::new()
    });
    let gate = Gate::new(layer, || json(whole()));
    let body = gzip(br#"{"tools":[{"name":"rm"}]}"#);
    let request = |coding: &str| {
        let request = Request::post("/v1/chat/completions").header("content-encoding", coding);
        request.body(Full::new(body.clone())).unwrap()
    };
    assert_eq!(gate.ask(request("gzip")).await.status, StatusCode::OK);
    assert_eq!(gate.asked()[0].body, body);
    assert_eq!(gate.ask(request("br")).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(gate.ask(request("identity")).await.status, StatusCode::BAD_REQUEST);
    assert_eq!(gate.asked().len(), 1);
}

#[tokio::test]
async fn the_requests_length_is_a_lie() {
    let gate = lax();
    let request = Request::post("/v1/chat/completions").header("content-length", "1");
    let answer = gate.ask(request.body(Full::from("{}")).unwrap()).await;
    assert_eq!((answer.status, gate.asked().len()), (StatusCode::BAD_REQUEST, 0));
}

#[tokio::test]
async fn the_rest_of_a_stream_is_asked_for_so_that_the_name_of_a_call_is_not_seen() {
    let stream = concat!(
        r#"event: response.function_call_arguments.delta"#,
        "\n",
        r#"data: {"type":"response.function_call_arguments.delta","sequence_number":5,"item_id":"f","output_index":0,"delta":"{\"path\":\"secret\"}"}"#,
        "\n\n",
        r#"event: response.function_call_arguments.done"#,
        "\n",
        r#"data: {"type":"response.function_call_arguments.done","sequence_number":6,"item_id":"f","output_index":0,"arguments":"{\"path\":\"secret\"}"}"#,
        "\n\n",
        r#"event: response.output_item.done"#,
        "\n",
        r#"data: {"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":{"id":"f","type":"function_call","status":"completed","call_id":"c","name":"ls","arguments":"{\"path\":\"secret\"}"}}"#,
        "\n\n",
        r#"event: response.completed"#,
        "\n",
        r#"data: {"type":"response.completed","sequence_number":8,"response":{"id":"r","object":"response","status":"completed","output":[{"id":"f","type":"function_call","status":"completed","call_id":"c","name":"ls","arguments":"{\"path\":\"secret\"}"}]}}"#,
        "\n\n",
    );
    let layer = PolicyLayer::with_settings(Settings::new().empty_notice(None), |facts: &Facts| {
        assert!(facts.is_resumed());
        Plan::new().policy(crate::kit::NoRm)
    });
    let gate = Gate::new(layer, move || events(stream));
    let answer = gate.get("/v1/responses/r?stream=true&starting_after=4").await;
    assert_eq!(
        answer.text(),
        concat!(
            "event: response.completed\n",
            r#"data: {"type":"response.completed","sequence_number":5,"response":"#,
            r#"{"id":"r","object":"response","status":"completed","output":[]}}"#,
            "\n\n",
        )
    );
}

fn lax() -> Gate {
    Gate::no_rm(|| json(whole()))
}

fn request(method: &Method, path: &str) -> Request<Full<Bytes>> {
    Request::builder().method(method).uri(path).body(Full::default()).unwrap()
}

/// Everything but the call of `rm` has left, flawless for a strict client.
fn assert_policed(answer: &Answer) {
    assert!(!answer.text().contains("secret"), "{}", answer.text());
    let kind = WireKind::OpenAiChat;
    let body = answer.body.trim_ascii_start();
    if body.starts_with(b"{") {
        let expected = viewed_whole(kind, &script_without_rm().whole(kind));
        assert_eq!(viewed_whole(kind, body).view(), expected.view());
    } else {
        let expected = viewed(kind, &script_without_rm().bytes(kind));
        assert_eq!(viewed(kind, body).view(), expected.view());
    }
}

fn assert_refused(answer: &Answer) {
    assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
    assert!(!answer.text().contains("secret"), "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

fn whole() -> Bytes {
    script().whole(WireKind::OpenAiChat)
}

fn stream() -> Bytes {
    script().bytes(WireKind::OpenAiChat)
}

fn text(body: &[u8]) -> String {
    String::from_utf8(body.to_vec()).unwrap()
}

fn utf16(body: &[u8]) -> Vec<u8> {
    text(body).encode_utf16().flat_map(u16::to_be_bytes).collect()
}

fn coded(coding: &'static str, body: Bytes) -> Response<UpstreamBody> {
    let mut response = json(body);
    response.headers_mut().insert("content-encoding", coding.parse().unwrap());
    response
}

fn status(status: StatusCode, body: impl Into<Bytes>) -> Response<UpstreamBody> {
    let mut response = json(body);
    *response.status_mut() = status;
    response
}

fn moved(code: StatusCode) -> Response<UpstreamBody> {
    let mut response = status(code, whole());
    response.headers_mut().insert("location", "https://other.example/v1/chat/completions".parse().unwrap());
    response
}

fn partial(body: Bytes) -> Response<UpstreamBody> {
    status(StatusCode::PARTIAL_CONTENT, body)
}
