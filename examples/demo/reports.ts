import type { Phase } from './script.ts';

/** What the origin tells the demo, several times a second. */
export interface OriginReport {
  readonly phase: Phase;
  /** HTTP requests that reached it. A refused connection does not. */
  readonly requests: number;
  /** The most that were under way at one time. */
  readonly mostAtOnce: number;
}

/** Loads by what became of them. */
export interface LoadCounts {
  readonly started: number;
  /** Brought new data; the first load counts. */
  readonly succeeded: number;
  /** "304 Not Modified". */
  readonly kept: number;
  readonly failed: number;
  readonly timedOut: number;
}

/** A distribution of latencies in milliseconds. */
export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** What the service tells the demo, several times a second. */
export interface ServiceReport {
  readonly loads: LoadCounts;
  readonly state: string;
  readonly running: boolean;
  /** Milliseconds. */
  readonly age: number;
  readonly failures: number;
  readonly lastError: string | undefined;
  /** Epoch milliseconds. */
  readonly nextExecuteTime: number;
  readonly edition: number;
  /** The longest age of a value that was served, in milliseconds. */
  readonly oldestServed: number;
  /** From the request's arrival to the end of its answer, as the service sees it. */
  readonly fresh: Latency;
  readonly reloading: Latency;
}

/** What the load generator knows. */
export interface TrafficReport {
  readonly reads: number;
  /** Answers that were not the wanted ones, timeouts, broken connections. */
  readonly errors: number;
  /** 99th percentile since the last report, in milliseconds. */
  readonly recentP99: number;
}

/** What a child process sends its parent. */
export type Message<Report, Event = never> =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'event'; readonly event: Event };

/** How often children report. */
export const REPORT_EVERY_MS = 200;
