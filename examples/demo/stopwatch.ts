import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { Latency } from './reports.ts';

/** A histogram of latencies: milliseconds in and out, microseconds inside. */
export class Stopwatch {
  readonly #microseconds: RecordableHistogram = createHistogram({ highest: 60_000_000, figures: 3 });

  record(ms: number): void {
    this.#microseconds.record(Math.max(1, Math.round(ms * 1000)));
  }

  read(): Latency {
    const { count, max } = this.#microseconds;
    if (count === 0) return { count: 0, p50: 0, p99: 0, max: 0 };
    const percentile = (of: number): number => this.#microseconds.percentile(of) / 1000;
    return { count, p50: percentile(50), p99: percentile(99), max: max / 1000 };
  }

  reset(): void {
    this.#microseconds.reset();
  }
}
