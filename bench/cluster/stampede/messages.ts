import type { Reads } from './reading.ts';

/** How a process of workers is started: its argument, as JSON. */
export interface WorkersSettings {
  /** Of the Redis. */
  readonly url: string;
  readonly workers: number;
  readonly periodMs: number;
  readonly loadMs: number;
}

/** To a process of workers. It answers when it has done so. */
export type Order =
  /** Each worker reads once, by the strategy of that name. */
  | { readonly kind: 'fill'; readonly strategy: string }
  /** They go on reading for so long, and give up their readers. */
  | { readonly kind: 'run'; readonly durationMs: number };

/** Of a process of workers: it is `ready` for orders, or has carried out one. */
export type Told =
  | { readonly kind: 'ready' }
  | { readonly kind: 'filled' }
  | { readonly kind: 'ran'; readonly tally: Tally };

/** What came of a run. */
export interface Tally extends Reads {
  readonly loads: number;
  readonly elapsedMs: number;
}
