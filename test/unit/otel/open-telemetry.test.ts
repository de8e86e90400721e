import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type GroupOptions, keep, RefreshGroup } from '../../../src/index.ts';
import { openTelemetry } from '../../../src/otel/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { ManualLoad } from '../../support/manual-load.ts';

const manager = new AsyncLocalStorageContextManager();
const atEnd: (() => unknown)[] = [];
beforeAll(() => void context.setGlobalContextManager(manager.enable()));
afterAll(() => context.disable());
afterEach(async () => {
  for (const end of atEnd.splice(0)) await end();
});

function makeTracing(exporter: SpanExporter) {
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  atEnd.push(() => tracerProvider.shutdown());
  return { tracerProvider, tracer: tracerProvider.getTracer('test') };
}

function makeMetrics(exporter: PushMetricExporter) {
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  atEnd.push(() => meterProvider.shutdown());
  return { meterProvider };
}

function observed(options: GroupOptions = {}) {
  const spans = new InMemorySpanExporter();
  const points = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const { tracerProvider, tracer } = makeTracing(spans);
  const { meterProvider } = makeMetrics(points);
  const clock = new FakeClock();
  const group = new RefreshGroup({ clock, logger: false, retry: false, ...options });
  const stop = openTelemetry(group, { tracerProvider, meterProvider });
  /** The samples of the metrics, by name and labels. */
  const collect = async (): Promise<Record<string, unknown>> => {
    points.reset();
    await meterProvider.forceFlush();
    const metrics = points
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
    const samples = metrics.flatMap(({ descriptor: { name, unit }, dataPoints }) =>
      dataPoints.map(({ attributes, value }) => [
        `${[name, ...Object.values(attributes)].join(' ')} ${unit}`,
        value,
      ]),
    );
    return Object.fromEntries(samples);
  };
  const loads = (): ReadableSpan[] => spans.getFinishedSpans().filter(({ name }) => name.startsWith('load'));
  return { group, clock, tracer, stop, collect, loads };
}

describe('the span of a load', () => {
  it('is a root span, linked to the span of the read that started it', async () => {
    const { group, tracer, loads } = observed();
    const manual = new ManualLoad<string>();
    const v = group.value({ name: 'v', load: manual.load });
    const read = tracer.startActiveSpan('request', (span) => {
      const reading = v.get();
      span.end();
      return reading;
    });
    const joined = tracer.startActiveSpan('another', () => v.get());
    manual.call(0).resolve('one');
    await Promise.all([read, joined]);
    const [span] = loads();
    expect(loads()).toHaveLength(1);
    expect(span).toMatchObject({ name: 'load v', parentSpanContext: undefined, ended: true });
    expect(span?.links).toHaveLength(1);
    expect(span?.links[0]?.context.traceId).not.toBe(span?.spanContext().traceId);
    expect(span?.attributes).toEqual({
      'tickless.name': 'v',
      'tickless.trigger': 'first',
      'tickless.background': false,
      'tickless.outcome': 'loaded',
      'tickless.attempts': 1,
    });
  });

  it('holds while the load runs, and the context of the reader does not', async () => {
    const { group, tracer, loads } = observed();
    const inner: unknown[] = [];
    const load = async (): Promise<number> => {
      await undefined;
      tracer.startSpan('query').end();
      inner.push(trace.getActiveSpan()?.spanContext().spanId);
      return 1;
    };
    await tracer.startActiveSpan('request', () => group.value({ name: 'v', load }).get());
    expect(inner).toEqual([loads()[0]?.spanContext().spanId]);
  });

  it('has its outcome: kept, failed with each attempt, timed out, cancelled', async () => {
    const { group, clock, loads } = observed({
      retry: { retries: 1, minTimeout: 10, randomize: false },
      timeout: 1000,
    });
    const manual = new ManualLoad<string>();
    const v = group.value({ name: 'v', load: manual.load });
    const refresh = async (
      call: number,
      settle: (load: ReturnType<typeof manual.call>) => void,
    ): Promise<void> => {
      const refreshed = v.refresh().catch(() => {});
      await clock.flush();
      settle(manual.call(call));
      await clock.advance(10);
      if (call < 2) await refreshed;
    };
    await refresh(0, (load) => load.resolve('one'));
    await refresh(1, (load) => load.resolve(keep() as never));
    await refresh(2, (load) => load.reject(new Error('down')));
    manual.call(3).reject(new Error('still down'));
    await clock.flush();
    await refresh(4, () => {});
    await clock.advance(1000);
    await refresh(5, () => v.set('by hand'));
    const outcomes = loads().map(({ attributes, status, events }) => [
      attributes['tickless.outcome'],
      attributes['tickless.attempts'],
      status.code,
      events.map(({ name }) => name).join(),
    ]);
    expect(outcomes).toEqual([
      ['loaded', 1, 0, 'attempt'],
      ['kept', 1, 0, 'attempt'],
      ['failed', 2, 2, 'attempt,attempt,exception'],
      ['timed-out', 1, 2, 'attempt,exception'],
      ['cancelled', 1, 0, 'attempt'],
    ]);
  });

  it('has the token of its lease; where another instance loads it is deferred, then adopted', async () => {
    const cluster = new ManualCluster();
    const { lock, store, clock } = cluster;
    const [a, b] = [
      observed({ clock, backend: { lock, store } }),
      observed({ clock, backend: { lock, store } }),
    ];
    const manual = new ManualLoad<string>();
    const reads = [a, b].map(({ group }) => group.value({ name: 'v', load: manual.load }).get());
    await clock.flush();
    manual.call(0).resolve('one');
    await clock.advance(100);
    await Promise.all(reads);
    const [loaded] = a.loads();
    expect(loaded?.attributes['tickless.lock.token']).toBeGreaterThan(0);
    expect(loaded?.attributes['tickless.outcome']).toBe('loaded');
    const [adopted] = b.loads();
    expect(adopted?.attributes).toMatchObject({ 'tickless.outcome': 'adopted', 'tickless.attempts': 0 });
    expect(adopted?.attributes).not.toHaveProperty(['tickless.lock.token']);
  });
});

it('the metrics have the ages, counters and load times of all members, until they are stopped', async () => {
  const { group, clock, collect, stop } = observed();
  const v = group.value({ name: 'v', load: () => 1, maxStaleness: 3_600_000 });
  expect(v.current).toBe(1);
  await clock.advance(30_000);
  expect(await collect()).toMatchObject({
    'tickless.value_age v s': 30,
    'tickless.value_max_staleness v s': 3600,
    'tickless.reads v ': 1,
    'tickless.loads v loaded ': 1,
    'tickless.load_duration v loaded s': { count: 1, sum: 0 },
  });
  stop();
  await v.refresh();
  expect(await collect()).toMatchObject({
    'tickless.loads v loaded ': 1,
    'tickless.load_duration v loaded s': { count: 1 },
  });
});

it('reaches a collector over OTLP', async () => {
  const received: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      received.push(`${request.url} ${body}`);
      response.setHeader('Content-Type', 'application/json').end('{}');
    });
  }).listen(0);
  await once(server, 'listening');
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  const { tracerProvider } = makeTracing(new OTLPTraceExporter({ url: `${url}/v1/traces` }));
  const { meterProvider } = makeMetrics(new OTLPMetricExporter({ url: `${url}/v1/metrics` }));
  const group = new RefreshGroup({ clock: new FakeClock() });
  const stop = openTelemetry(group, { tracerProvider, meterProvider });
  expect(group.value({ name: 'rates', load: () => 1 }).current).toBe(1);
  await Promise.all([tracerProvider.forceFlush(), meterProvider.forceFlush()]);
  stop();
  atEnd.push(() => server.close().closeAllConnections());
  const [spans, points] = ['/v1/traces', '/v1/metrics'].map((path) =>
    received.find((one) => one.startsWith(path)),
  );
  expect(spans).toContain('load rates');
  expect(points).toContain('tickless.value_age');
});

it('refuses what is not a group', () => {
  expect(() => openTelemetry({} as RefreshGroup)).toThrow(expect.objectContaining({ code: 'OPTION' }));
  for (const options of [{ tracerProvider: {} }, { meterProvider: 1 }])
    expect(() => openTelemetry(new RefreshGroup(), options as never)).toThrow(
      expect.objectContaining({ code: 'OPTION' }),
    );
});
