//! The YAML.

use std::fmt::Write as _;
use std::net::SocketAddr;

use super::Bootstrap;
use super::cluster::{Cluster, Endpoint};
use super::route::{Match, Route};

/// Writes all of it.
pub(super) fn yaml(all: &Bootstrap) -> String {
    let mut out = String::from(HEAD);
    // Writing to a string does not fail.
    if let Some(admin) = all.admin {
        let _ = writeln!(out, "admin: {{ address: {} }}", address(admin));
    }
    let idle = all.idle.as_secs();
    let _ = write!(
        out,
        "static_resources:\n  listeners:\n  - name: clients\n    address: {}\n",
        address(all.listen)
    );
    out += &LISTENER.replace("{idle}", &idle.to_string());
    for route in &all.routes {
        let cluster = all.clusters.iter().find(|cluster| cluster.name == route.cluster);
        out += &entry(route, cluster);
    }
    out += "  clusters:\n";
    for cluster in &all.clusters {
        out += &upstream(cluster, all.requests);
    }
    out += &policies(all);
    out
}

fn entry(route: &Route, cluster: Option<&Cluster>) -> String {
    let matches = match &route.matches {
        Match::Any => "prefix: \"/\"".to_owned(),
        Match::Prefix(prefix) => format!("prefix: {}", quoted(prefix)),
        Match::Path(regex) => format!("safe_regex: {{ regex: {} }}", quoted(regex)),
        Match::Header(name) => {
            format!("prefix: \"/\", headers: [ {{ name: {}, present_match: true }} ]", quoted(name))
        }
    };
    let mut text = format!("              - match: {{ {matches} }}\n                route:\n");
    let _ = writeln!(text, "                  cluster: {}", quoted(&route.cluster));
    // A route's timeout counts to the end of the response.
    text += "                  timeout: 0s                # counts to the end of the response: a stream has none\n";
    if let Some(cluster) = cluster.filter(|_| route.rewrite) {
        let _ = writeln!(text, "                  host_rewrite_literal: {}", quoted(&cluster.authority()));
    }
    match (&route.matches, route.prefix.trim_end_matches('/')) {
        (Match::Prefix(_), prefix) if !route.prefix.is_empty() => {
            let _ = writeln!(text, "                  prefix_rewrite: {}", quoted(&format!("{prefix}/")));
        }
        (_, "") => {}
        (_, prefix) => {
            let substitution = quoted(&format!("{}\\1", prefix.replace('\\', "\\\\")));
            let _ = writeln!(
                text,
                "                  regex_rewrite: {{ pattern: {{ regex: \"^(/.*)$\" }}, substitution: {substitution} }}"
            );
        }
    }
    if !route.without.is_empty() {
        let names: Vec<String> = route.without.iter().map(|name| quoted(name)).collect();
        let _ = writeln!(text, "                request_headers_to_remove: [ {} ]", names.join(", "));
    }
    if !route.headers.is_empty() {
        text += "                request_headers_to_add:\n";
        for (name, value) in &route.headers {
            let header = format!("header: {{ key: {}, value: {} }}", quoted(name), quoted(value));
            let _ =
                writeln!(text, "                - {{ {header}, append_action: OVERWRITE_IF_EXISTS_OR_ADD }}");
        }
    }
    if !route.is_policed {
        text += UNPOLICED;
    }
    text
}

fn upstream(cluster: &Cluster, requests: u32) -> String {
    let mut text = format!("  - name: {}\n", quoted(&cluster.name));
    text += kind(std::slice::from_ref(&cluster.endpoint), "LOGICAL_DNS");
    text += "    per_connection_buffer_limit_bytes: 65536\n";
    text += &breakers(requests);
    if cluster.http2 {
        text += &http2("initial_stream_window_size: 65536");
    } else if cluster.tls {
        text += &format!("{PROTOCOL}        explicit_http_config: {{ http_protocol_options: {{}} }}\n");
    }
    if cluster.tls {
        let host = quoted(&cluster.endpoint.host);
        text += &TLS.replace("{host}", &host);
    }
    text += &assignment(&cluster.name, std::slice::from_ref(&cluster.endpoint));
    text
}

fn policies(all: &Bootstrap) -> String {
    let mut text = String::from("  - name: policies\n");
    text += kind(&all.processors, "STRICT_DNS");
    text += POLICIES;
    text += &breakers(all.requests);
    let Bootstrap { stream_window, connection_window, .. } = all;
    text += "    # One exchange whose client does not read must not stop the others: a window for each, none for all.\n";
    text += &http2(&format!(
        "initial_stream_window_size: {stream_window}, initial_connection_window_size: {connection_window}"
    ));
    text += &assignment("policies", &all.processors);
    text
}

fn kind(endpoints: &[Endpoint], named: &'static str) -> &'static str {
    match (endpoints.iter().all(Endpoint::is_address), named) {
        (true, _) => "    type: STATIC\n",
        (_, "STRICT_DNS") => "    type: STRICT_DNS           # every address of the name is a replica\n",
        _ => "    type: LOGICAL_DNS\n    dns_lookup_family: V4_PREFERRED\n",
    }
}

fn breakers(requests: u32) -> String {
    format!(
        "    # Envoy's own limits (1024 requests, 3 retries) fail real traffic: every open stream is a request.\n    \
         circuit_breakers: {{ thresholds: [ {{ max_connections: {requests}, max_requests: {requests}, \
         max_pending_requests: {requests}, max_retries: 1000 }} ] }}\n"
    )
}

fn http2(options: &str) -> String {
    format!("{PROTOCOL}        explicit_http_config: {{ http2_protocol_options: {{ {options} }} }}\n")
}

fn assignment(name: &str, endpoints: &[Endpoint]) -> String {
    let mut text = format!(
        "    load_assignment:\n      cluster_name: {}\n      endpoints:\n      - lb_endpoints:\n",
        quoted(name)
    );
    for Endpoint { host, port } in endpoints {
        let host = quoted(host);
        let _ = writeln!(
            text,
            "        - {{ endpoint: {{ address: {{ socket_address: {{ address: {host}, port_value: {port} }} }} }} }}"
        );
    }
    text
}

fn address(address: SocketAddr) -> String {
    let (ip, port) = (address.ip(), address.port());
    format!("{{ socket_address: {{ address: \"{ip}\", port_value: {port} }} }}")
}

/// A string of YAML, which reads those of JSON.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for char in text.chars() {
        match char {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            char if char.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            char => out.push(char),
        }
    }
    out + "\""
}

const HEAD: &str = "\
# Envoy with policies over model streams. Made for Envoy 1.40.
";

const LISTENER: &str = r#"    # The soft limit of every buffer of a stream, and so of what is read ahead of a client that is slow.
    per_connection_buffer_limit_bytes: 65536
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: clients
          codec_type: AUTO
          # The only clock over a processor that hangs, and over a model that is silent. Longer than the limits of the
          # policies (idle and policy): those end a stream in its own format, this one resets it.
          stream_idle_timeout: {idle}s
          # The path that is routed is the path that the policies read.
          normalize_path: true
          http_filters:
          - name: envoy.filters.http.ext_proc
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor
              grpc_service:
                envoy_grpc: { cluster_name: policies }
                # Another replica is tried before anything was sent, and never after. There is no timeout: it would be
                # the deadline of the whole exchange.
                retry_policy: { retry_on: "connect-failure,refused-stream", num_retries: 3 }
              # Without the policies nothing passes.
              failure_mode_allow: false
              # The policies write the length of what they have changed.
              allow_content_length_header: true
              processing_mode:
                # Both bodies in full duplex: a head can be withheld until its body was read, and events are answered
                # one by one. In every other mode Envoy waits for answers that cannot be given yet.
                request_header_mode: SEND
                request_body_mode: FULL_DUPLEX_STREAMED
                request_trailer_mode: SEND      # full duplex asks for it
                response_header_mode: SEND
                response_body_mode: FULL_DUPLEX_STREAMED
                response_trailer_mode: SEND     # full duplex asks for it
              # The policies never choose another upstream.
              mutation_rules: { allow_all_routing: false }
          - name: envoy.filters.http.router
            typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
"#;

const UNPOLICED: &str = r#"                typed_per_filter_config:
                  envoy.filters.http.ext_proc:
                    "@type": type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute
                    disabled: true
"#;

const POLICIES: &str = "    lb_policy: ROUND_ROBIN       # with LEAST_REQUEST every retry finds the replica that has just died: it has none
    connect_timeout: 0.5s
    # A replica that is gone, or stopping, is found within a second.
    health_checks:
    - { timeout: 0.5s, interval: 1s, unhealthy_threshold: 1, healthy_threshold: 1, grpc_health_check: {} }
    per_connection_buffer_limit_bytes: 65536
";

const PROTOCOL: &str = r#"    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
"#;

const TLS: &str = r#"    transport_socket:
      name: envoy.transport_sockets.tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        sni: {host}
        common_tls_context:
          validation_context:
            trusted_ca: { filename: /etc/ssl/certs/ca-certificates.crt }
            match_typed_subject_alt_names: [ { san_type: DNS, matcher: { exact: {host} } } ]
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_break_out_of_its_quotes() {
        assert_eq!(quoted("a\"}\n\\"), r#""a\"}\u000a\\""#);
    }
}
