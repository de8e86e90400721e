import {
  type Attributes,
  context,
  type Meter,
  type MeterProvider,
  metrics,
  type Observable,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { type Groups, groupsArgument, membersOf, samplesOf } from '../metrics/groups.ts';
import { BOUNDS, LOAD_TIMES, observeLoads } from '../metrics/load-times.ts';
import { COUNTERS, GAUGES, type Metric } from '../metrics/metrics.ts';
import type { ExecutionRecord, ExecutionStart, ExecutionTrace, Instrument } from '../observe/instrument.ts';
import { instrumented } from '../value/instrumented.ts';

/** The options of {@link openTelemetry}; none is required. */
export interface OpenTelemetryOptions {
  /** Makes the tracer. @default the global one at the time of the call */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Makes the meter. @default the global one at the time of the call */
  readonly meterProvider?: MeterProvider | undefined;
}

const SCOPE = 'tickless';

/**
 * Reports the members of a group, or of several groups together, to OpenTelemetry: also those that are made later.
 *
 * - **Spans**: one for each load (`load rates`), a root span that is linked to the span of the read that started it: a load
 *   is shared by many readers, and outlives the one that started it. Attributes: `tickless.name`, `tickless.trigger`,
 *   `tickless.background`, `tickless.attempts`, `tickless.outcome`, and with a lease `tickless.lock.token`; an event
 *   `attempt` for each call. The load runs in the context of its span. Keys are not reported.
 * - **Metrics**: those of `tickless/prometheus`, as observable gauges and counters with names like `tickless.value_age` and a
 *   unit; an exporter for Prometheus gives them the same names. They are computed when they are collected, which starts no
 *   load.
 *
 * ```ts
 * import { RefreshGroup } from 'tickless';
 * import { openTelemetry } from 'tickless/otel';
 *
 * const group = new RefreshGroup();
 * const stop = openTelemetry(group); // after the SDK has registered its providers
 * stop();
 * ```
 *
 * @returns the function that ends it. A span that has begun is ended all the same.
 * @throws {TicklessError} `OPTION` when there is no group, for an unknown option, and where a provider is not one.
 */
export function openTelemetry(groups: Groups, given: OpenTelemetryOptions = {}): () => void {
  const [all, options] = groupsArgument(groups, given, {
    tracerProvider: ['getTracer'],
    meterProvider: ['getMeter'],
  });
  const tracer = (options.tracerProvider ?? trace).getTracer(SCOPE);
  const meter = (options.meterProvider ?? metrics).getMeter(SCOPE);
  const instrument: Instrument = {
    isWanted: true,
    begin: (name, details) => new LoadSpan(tracer, name, details),
  };
  const stops = all.map((group) => instrumented(group, instrument));

  const observed = [
    ...GAUGES.map((metric) => [metric, meter.createObservableGauge(...described(metric))] as const),
    ...COUNTERS.map((metric) => [metric, meter.createObservableCounter(...described(metric))] as const),
  ];
  const observables = observed.map(([, observable]) => observable as Observable);
  const observe: Parameters<Meter['addBatchObservableCallback']>[0] = (result) => {
    const members = membersOf(all);
    for (const [metric, observable] of observed) {
      for (const [labels, value] of samplesOf(metric, members)) result.observe(observable, value, labels);
    }
  };
  meter.addBatchObservableCallback(observe, observables);

  const [name, about] = described(LOAD_TIMES);
  const durations = meter.createHistogram(name, {
    ...about,
    advice: { explicitBucketBoundaries: [...BOUNDS] },
  });
  stops.push(observeLoads(all, (seconds, labels) => durations.record(seconds, labels)));
  return () => {
    for (const stop of stops) stop();
    meter.removeBatchObservableCallback(observe, observables);
  };
}

/** The unit of a metric is part of its name in Prometheus, and a field of its own here. */
function described({
  name,
  help,
}: Pick<Metric, 'name' | 'help'>): [name: string, { description: string; unit: string }] {
  const base = name.replace(/_(total|seconds|ratio)$/, '').replace('tickless_', 'tickless.');
  const unit = name.endsWith('_seconds')
    ? 's'
    : name.includes('_bytes')
      ? 'By'
      : name.endsWith('_ratio')
        ? '1'
        : '';
  return [base, { description: help, unit }];
}

/** The span of one load, with all its tries. */
class LoadSpan implements ExecutionTrace {
  readonly #span: Span;

  /** On the stack of the read. */
  constructor(tracer: Tracer, name: string, { trigger, background }: ExecutionStart) {
    const reader = trace.getSpanContext(context.active());
    const attributes: Attributes = {
      'tickless.name': name,
      'tickless.trigger': trigger,
      'tickless.background': background,
    };
    const links = reader === undefined ? [] : [{ context: reader }];
    this.#span = tracer.startSpan(`load ${name}`, { root: true, attributes, links }, ROOT_CONTEXT);
  }

  call<R>(attempt: number, load: () => R): R {
    this.#span.addEvent('attempt', { attempt });
    return context.with(trace.setSpan(ROOT_CONTEXT, this.#span), load);
  }

  end({ outcome, attempts, token, error }: ExecutionRecord<Error>): void {
    this.#span.setAttributes({ 'tickless.outcome': outcome, 'tickless.attempts': attempts });
    if (token !== undefined) this.#span.setAttribute('tickless.lock.token', token);
    if (error !== undefined && outcome !== 'cancelled') {
      this.#span.recordException(error);
      this.#span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
    }
    this.#span.end();
  }
}
