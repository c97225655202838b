//! Names of attributes and instruments. Those that begin with `gen_ai`, `http`, `error` and `service` are OpenTelemetry's.

pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const PROVIDER: &str = "gen_ai.provider.name";
pub(super) const MODEL: &str = "gen_ai.request.model";
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(super) const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
pub(super) const TOKEN_TYPE: &str = "gen_ai.token.type";
pub(super) const STATUS: &str = "http.response.status_code";
pub(super) const ERROR: &str = "error.type";

pub(super) const API: &str = "gateway.api";
pub(super) const NUMBER: &str = "gateway.request";
pub(super) const CLIENT: &str = "gateway.client";
pub(super) const BYTES: &str = "gateway.bytes";
pub(super) const FIRST_BYTE: &str = "gateway.first_byte_ms";
pub(super) const STAYED: &str = "gateway.stayed";
pub(super) const ENDED: &str = "gateway.ended";
pub(super) const DECIDED: &str = "gateway.decided";

pub(super) const DECISION: &str = "gateway.decision";
pub(super) const POLICY: &str = "gateway.policy";
pub(super) const VERDICT: &str = "gateway.verdict";
pub(super) const CAUSE: &str = "gateway.cause";
pub(super) const ENFORCED: &str = "gateway.enforced";
pub(super) const HELD: &str = "gateway.held_ms";

pub(super) const DURATION: &str = "gen_ai.server.request.duration";
pub(super) const FIRST_TOKEN: &str = "gen_ai.server.time_to_first_token";
pub(super) const TOKENS: &str = "gen_ai.client.token.usage";
pub(super) const DECISIONS: &str = "gateway.decisions";
pub(super) const DECISION_BYTES: &str = "gateway.decision.bytes";
pub(super) const DECISION_HELD: &str = "gateway.decision.held";
