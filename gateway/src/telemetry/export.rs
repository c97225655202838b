//! Where telemetry goes, and how it gets there.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Request};
use opentelemetry::KeyValue;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::trace::{SpanKind, Tracer as _, TracerProvider as _};
use opentelemetry_otlp::tonic_types::metadata::MetadataMap;
use opentelemetry_otlp::tonic_types::transport::{Certificate, ClientTlsConfig};
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithExportConfig as _, WithTonicConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracer, SdkTracerProvider,
};

use super::answer::Answer;
use super::instruments::Instruments;
use super::{names, parent};

/// Where telemetry goes, as a file says it.
#[derive(Clone, PartialEq)]
pub(crate) struct Collector {
    /// The address of a collector that takes OTLP over gRPC.
    pub(crate) endpoint: String,
    /// The authorities of its certificate in PEM form, if they are not the usual ones.
    pub(crate) ca: Option<Vec<u8>>,
    /// Headers of every export.
    pub(crate) headers: HeaderMap,
    /// The service's name.
    pub(crate) service: String,
    /// How often it is sent.
    pub(crate) every: Duration,
    /// The part of answers whose spans are sent.
    pub(crate) sample: f64,
}

impl fmt::Debug for Collector {
    /// Headers hold keys: they are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// Sends telemetry from threads of its own, within bounds: a collector that does not answer costs what it was not sent.
/// Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Telemetry {
    traces: SdkTracerProvider,
    tracer: SdkTracer,
    metrics: SdkMeterProvider,
    instruments: Arc<Instruments>,
}

impl Telemetry {
    /// Starts it; within the runtime that connects to the collector.
    pub(crate) fn start(to: &Collector) -> Result<Self, String> {
        let wrong =
            |error: &dyn fmt::Display| format!("telemetry cannot be sent to {}: {error}", to.endpoint);
        let spans = SpanExporter::builder().with_tonic().with_endpoint(&to.endpoint).with_timeout(TIMEOUT);
        let spans = spans.with_metadata(MetadataMap::from_headers(to.headers.clone()));
        let metrics =
            MetricExporter::builder().with_tonic().with_endpoint(&to.endpoint).with_timeout(TIMEOUT);
        let metrics = metrics.with_metadata(MetadataMap::from_headers(to.headers.clone()));
        let (spans, metrics) = match to.tls() {
            Some(tls) => (spans.with_tls_config(tls.clone()), metrics.with_tls_config(tls)),
            None => (spans, metrics),
        };
        let spans = spans.build().map_err(|error| wrong(&error))?;
        let metrics = metrics.build().map_err(|error| wrong(&error))?;
        let resource = Resource::builder_empty()
            .with_service_name(to.service.clone())
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUE)
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(to.every);
        let batches = BatchSpanProcessor::builder(spans).with_batch_config(batches.build()).build();
        let traces = SdkTracerProvider::builder()
            .with_span_processor(batches)
            // Whether a client's own span is sampled does not decide whether the gateway's is seen.
            .with_sampler(Sampler::TraceIdRatioBased(to.sample))
            .with_max_events_per_span(EVENTS)
            .with_resource(resource.clone())
            .build();
        let reader = PeriodicReader::builder(metrics).with_interval(to.every).build();
        let metrics = SdkMeterProvider::builder().with_reader(reader).with_resource(resource).build();
        let instruments = Arc::new(Instruments::new(&metrics.meter(SCOPE)));
        Ok(Self { tracer: traces.tracer(SCOPE), traces, metrics, instruments })
    }

    /// The answer to a request, of which is told from now on.
    pub(crate) fn answer<B>(&self, request: &Request<B>, number: u64) -> Answer {
        let parent = parent::of(request.headers());
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        let span = self.tracer.span_builder("request").with_kind(SpanKind::Server);
        let span = span.with_attributes([KeyValue::new(names::NUMBER, number)]);
        Answer::new(span.start_with_context(&self.tracer, &parent), Arc::clone(&self.instruments))
    }

    /// Sends what is left, for a few seconds at most.
    pub(crate) async fn finish(self) {
        let sent = tokio::task::spawn_blocking(move || {
            let spans = self.traces.shutdown_with_timeout(LAST);
            let metrics = self.metrics.shutdown_with_timeout(LAST);
            spans.and(metrics)
        });
        if let Ok(Ok(Err(error))) = tokio::time::timeout(LAST * 2, sent).await {
            tracing::warn!(%error, "the last telemetry cannot be sent");
        }
    }
}

impl Collector {
    fn tls(&self) -> Option<ClientTlsConfig> {
        let is_https = self.endpoint.starts_with("https:");
        let tls = ClientTlsConfig::new();
        is_https.then(|| match &self.ca {
            Some(pem) => tls.ca_certificate(Certificate::from_pem(pem)),
            None => tls.with_webpki_roots(),
        })
    }
}

const SCOPE: &str = "gateway";
/// How long one export, and the last one, may take.
const TIMEOUT: Duration = Duration::from_secs(10);
const LAST: Duration = Duration::from_secs(3);
/// How many spans wait to be sent, how many are sent at once, and how many events one has. Further spans are dropped;
/// further events are counted, and so are told with their span.
const QUEUE: usize = 2048;
const BATCH: usize = 512;
const EVENTS: u32 = 1000;
