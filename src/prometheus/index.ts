// tickless/prometheus: the members of groups as metrics of prom-client.

export { type PrometheusOptions, prometheusMetrics } from './prometheus-metrics.ts';
