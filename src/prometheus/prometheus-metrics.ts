import { Counter, Gauge, type GaugeConfiguration, Histogram, type Registry, register } from 'prom-client';
import { type Groups, groupsArgument, membersOf, samplesOf } from '../metrics/groups.ts';
import { BOUNDS, LOAD_TIMES, observeLoads } from '../metrics/load-times.ts';
import { COUNTERS, GAUGES, type MemberStatus, type Metric } from '../metrics/metrics.ts';

/** The options of {@link prometheusMetrics}; none is required. */
export interface PrometheusOptions {
  /** The registry that is scraped. @default the global registry of prom-client */
  readonly register?: Registry | undefined;
}

/**
 * Registers the members of a group, or of several groups together, with prom-client: also those that are made later. The
 * metrics are computed when they are scraped, from `inspect()`, so a scrape starts no load and reads cost
 * nothing; load times are observed as loads end. Labels are the `name` of the member and a few fixed words, never a key.
 *
 * ```ts
 * import { register } from 'prom-client';
 * import { RefreshGroup } from 'tickless';
 * import { prometheusMetrics } from 'tickless/prometheus';
 *
 * const group = new RefreshGroup();
 * const stop = prometheusMetrics(group);
 * group.value({ name: 'rates', load: () => 1.08 }).current;
 * console.log((await register.metrics()).includes('tickless_reads_total{name="rates"} 1')); // prints: true
 * stop();
 * ```
 *
 * Names of members must differ between the groups of one call. One registry takes one call: prom-client throws an error for
 * metrics that it has already.
 *
 * @returns the function that takes the metrics out of the registry.
 * @throws {TicklessError} `OPTION` when there is no group, for an unknown option, and where `register` is not a registry.
 */
export function prometheusMetrics(groups: Groups, given: PrometheusOptions = {}): () => void {
  const [all, options] = groupsArgument(groups, given, {
    register: ['registerMetric', 'removeSingleMetric'],
  });
  const registry = options.register ?? register;
  let members: readonly MemberStatus[] | undefined;
  /** prom-client asks for one metric after the other, on one stack: they show the members of one instant. */
  const samples: Samples = (metric) => {
    if (members === undefined) {
      members = membersOf(all);
      queueMicrotask(() => {
        members = undefined;
      });
    }
    return samplesOf(metric, members);
  };
  for (const metric of GAUGES) gauge(metric, registry, samples);
  for (const metric of COUNTERS) counter(metric, registry, samples);
  const labelNames = ['name', 'outcome'];
  const buckets = [...BOUNDS];
  const durations = new Histogram({ ...LOAD_TIMES, registers: [registry], labelNames, buckets });
  const stop = observeLoads(all, (seconds, labels) => durations.observe(labels, seconds));
  return () => {
    stop();
    for (const { name } of [...GAUGES, ...COUNTERS, LOAD_TIMES]) registry.removeSingleMetric(name);
  };
}

type Samples = (metric: Metric) => ReturnType<typeof samplesOf>;

function gauge(metric: Metric, registry: Registry, samples: Samples): Gauge {
  return new Gauge({
    ...described(metric, registry),
    collect() {
      this.reset();
      for (const [labels, value] of samples(metric)) this.set(labels, value);
    },
  });
}

function counter(metric: Metric, registry: Registry, samples: Samples): Counter {
  return new Counter({
    ...described(metric, registry),
    collect() {
      this.reset();
      for (const [labels, value] of samples(metric)) this.inc(labels, value);
    },
  });
}

function described({ name, help, labels = [] }: Metric, registry: Registry): GaugeConfiguration<string> {
  return { name, help, labelNames: ['name', ...labels], registers: [registry] };
}
