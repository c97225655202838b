//! A collector of OTLP over gRPC, from the protocol's own crate.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::{Metric, metric, number_data_point};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status};

/// The name of a metric, attributes, how many values there were, and their sum (of times none: they differ from run to run).
pub(crate) type Series = (String, BTreeMap<String, String>, u64, Option<u64>);

/// What was received. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Collector(Arc<Mutex<Received>>);

#[derive(Default)]
struct Received {
    traces: Vec<ExportTraceServiceRequest>,
    metrics: Vec<ExportMetricsServiceRequest>,
    /// The header `x-token` of each export.
    tokens: Vec<Option<String>>,
}

impl Collector {
    /// Listens; its address.
    pub(crate) async fn start(tls: Option<(String, String)>) -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let this = Self::default();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let mut server = Server::builder();
        if let Some((certificate, key)) = tls {
            let identity = Identity::from_pem(certificate, key);
            server = server.tls_config(ServerTlsConfig::new().identity(identity)).unwrap();
        }
        let server = server
            .add_service(TraceServiceServer::new(this.clone()))
            .add_service(MetricsServiceServer::new(this.clone()));
        tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));
        (this, format!("{scheme}://localhost:{port}"))
    }

    /// Every span, in the order in which requests came.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let received = self.0.lock().unwrap();
        let resources = received.traces.iter().flat_map(|export| &export.resource_spans);
        let scopes = resources.flat_map(|resource| &resource.scope_spans);
        let mut spans: Vec<Span> = scopes.flat_map(|scope| scope.spans.clone()).collect();
        spans.sort_by_key(|span| attributes(&span.attributes)["gateway.request"].parse::<u64>().unwrap());
        spans
    }

    /// The resources that spans and metrics were said to be of.
    pub(crate) fn resources(&self) -> Vec<BTreeMap<String, String>> {
        let received = self.0.lock().unwrap();
        let of_spans = received.traces.iter().flat_map(|export| &export.resource_spans);
        let of_spans = of_spans.map(|spans| spans.resource.clone());
        let of_metrics = received.metrics.iter().flat_map(|export| &export.resource_metrics);
        let all = of_spans.chain(of_metrics.map(|metrics| metrics.resource.clone()));
        let attributes = |resource: Option<Resource>| attributes(&resource.unwrap().attributes);
        let mut all: Vec<_> = all.map(attributes).collect();
        all.dedup();
        all
    }

    /// Every series, as it was last told.
    pub(crate) fn series(&self) -> Vec<Series> {
        let received = self.0.lock().unwrap();
        let Some(last) = received.metrics.last() else { return Vec::new() };
        let scopes = last.resource_metrics.iter().flat_map(|resource| &resource.scope_metrics);
        let mut all: Vec<_> = scopes.flat_map(|scope| scope.metrics.iter().flat_map(series)).collect();
        all.sort();
        all
    }

    /// The header `x-token` of each export.
    pub(crate) fn tokens(&self) -> Vec<Option<String>> {
        self.0.lock().unwrap().tokens.clone()
    }

    /// Every byte that was received.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let received = self.0.lock().unwrap();
        let traces = received.traces.iter().flat_map(prost::Message::encode_to_vec);
        traces.chain(received.metrics.iter().flat_map(prost::Message::encode_to_vec)).collect()
    }

    fn note<T>(&self, request: Request<T>, keep: impl FnOnce(&mut Received, T)) {
        let mut received = self.0.lock().unwrap();
        let token = request.metadata().get("x-token").map(|token| token.to_str().unwrap().to_owned());
        received.tokens.push(token);
        keep(&mut received, request.into_inner());
    }
}

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.note(request, |received, export| received.traces.push(export));
        Ok(Response::new(Default::default()))
    }
}

#[tonic::async_trait]
impl MetricsService for Collector {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        self.note(request, |received, export| received.metrics.push(export));
        Ok(Response::new(Default::default()))
    }
}

fn series(metric: &Metric) -> Vec<Series> {
    let name = metric.name.clone();
    match metric.data.as_ref().unwrap() {
        metric::Data::Sum(sum) => {
            let points = sum.data_points.iter().map(|point| {
                let Some(number_data_point::Value::AsInt(value)) = point.value else {
                    unreachable!("expected an integer, found {point:?}")
                };
                let value = u64::try_from(value).unwrap();
                (name.clone(), attributes(&point.attributes), value, None)
            });
            points.collect()
        }
        metric::Data::Histogram(histogram) => {
            let points = histogram.data_points.iter().map(|point| {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let sum = (metric.unit != "s").then(|| point.sum.unwrap() as u64);
                (name.clone(), attributes(&point.attributes), point.count, sum)
            });
            points.collect()
        }
        other => unreachable!("expected a sum or a histogram, found {other:?}"),
    }
}

/// Attributes as text.
pub(crate) fn attributes(list: &[KeyValue]) -> BTreeMap<String, String> {
    list.iter().map(|pair| (pair.key.clone(), text(pair.value.as_ref()))).collect()
}

fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()).unwrap() {
        Value::StringValue(text) => text.clone(),
        Value::BoolValue(is) => is.to_string(),
        Value::IntValue(number) => number.to_string(),
        Value::ArrayValue(list) => {
            list.values.iter().map(|value| text(Some(value))).collect::<Vec<_>>().join(",")
        }
        other => unreachable!("expected a text, a truth, an integer or a list, found {other:?}"),
    }
}
