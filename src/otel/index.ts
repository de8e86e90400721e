// tickless/otel: the members of groups as metrics, and their loads as spans, of OpenTelemetry.

export { type OpenTelemetryOptions, openTelemetry } from './open-telemetry.ts';
