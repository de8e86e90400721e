import { Counter, Gauge, type GaugeConfiguration, Histogram, type Registry, register } from 'prom-client';
import type { RefreshGroup } from '../group/refresh-group.ts';
import type { EventType } from '../observe/events.ts';
import { OptionChecks } from '../option-checks.ts';
import { COUNTERS, GAUGES, type MemberStatus, type Metric } from './metrics.ts';

/** The options of {@link prometheusMetrics}; none is required. */
export interface PrometheusOptions {
  /** The registry that is scraped. @default the global registry of prom-client */
  readonly register?: Registry | undefined;
}

const ENDS: { readonly [type in EventType]?: string } = {
  'load-succeeded': 'loaded',
  'load-kept': 'kept',
  'load-failed': 'failed',
  'load-timed-out': 'failed',
};

const BUCKETS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Registers the members of a group, or of several groups together, with prom-client: also those that are made later. The
 * metrics are computed when they are scraped, from `inspect()` and `stats()`, so a scrape starts no load and reads cost
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
 * @throws {OptionError} when there is no group, and for an unknown option.
 */
export function prometheusMetrics(
  groups: RefreshGroup | readonly RefreshGroup[],
  options: PrometheusOptions = {},
): () => void {
  const all: readonly RefreshGroup[] = Array.isArray(groups) ? groups : [groups as RefreshGroup];
  const checks = new OptionChecks('tickless');
  checks.names('', options, ['register']);
  for (const group of all) checks.methods('groups', group, ['inspect', 'on']);
  checks.done();
  const registry = options.register ?? register;
  const scrape = new Scrape(all);

  for (const metric of GAUGES) gauge(metric, registry, scrape);
  for (const metric of COUNTERS) counter(metric, registry, scrape);
  const name = 'tickless_load_duration_seconds';
  const help = 'How long loads took, with all their tries.';
  const registers = [registry];
  const durations = new Histogram({
    name,
    help,
    registers,
    labelNames: ['name', 'outcome'],
    buckets: [...BUCKETS],
  });
  const stops = all.flatMap((group) =>
    (['load-succeeded', 'load-kept', 'load-failed', 'load-timed-out'] as const).map((type) =>
      group.on(type, (event) => {
        const outcome = ENDS[type] as string;
        durations.observe({ name: event.name, outcome }, event.duration / 1000);
      }),
    ),
  );
  return () => {
    for (const stop of stops) stop();
    for (const metric of GAUGES.concat(COUNTERS)) registry.removeSingleMetric(metric.name);
    registry.removeSingleMetric(name);
  };
}

function gauge(metric: Metric, registry: Registry, scrape: Scrape): Gauge {
  return new Gauge({
    ...described(metric, registry),
    collect() {
      this.reset();
      for (const [labels, value] of scrape.samples(metric)) this.set(labels, value);
    },
  });
}

function counter(metric: Metric, registry: Registry, scrape: Scrape): Counter {
  return new Counter({
    ...described(metric, registry),
    collect() {
      this.reset();
      for (const [labels, value] of scrape.samples(metric)) this.inc(labels, value);
    },
  });
}

function described({ name, help, labels = [] }: Metric, registry: Registry): GaugeConfiguration<string> {
  return { name, help, labelNames: ['name', ...labels], registers: [registry] };
}

/** The state of all members at one scrape: prom-client asks for one metric after the other, on one stack. */
class Scrape {
  readonly #groups: readonly RefreshGroup[];
  #members: readonly MemberStatus[] | undefined;

  constructor(groups: readonly RefreshGroup[]) {
    this.#groups = groups;
  }

  samples({ of }: Metric): [labels: Record<string, string>, value: number][] {
    if (this.#members === undefined) {
      this.#members = this.#groups.flatMap(
        (group) => group.inspect({ values: false }).members as readonly MemberStatus[],
      );
      queueMicrotask(() => {
        this.#members = undefined;
      });
    }
    return this.#members.flatMap((member) =>
      of(member).flatMap(([value, labels]): [Record<string, string>, number][] =>
        value === undefined ? [] : [[{ name: member.name, ...labels }, value]],
      ),
    );
  }
}
