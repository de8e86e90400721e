import type { Reads } from './reading.ts';

/** The argument of a process of workers, as JSON. */
export interface WorkersSettings {
  /** Of the Redis. */
  readonly url: string;
  readonly workers: number;
  readonly periodMs: number;
  readonly loadMs: number;
}

/** A message to a process of workers. The process answers after it has carried it out. */
export type Command =
  /** Each worker reads once, with the named strategy. */
  | { readonly kind: 'fill'; readonly strategy: string }
  /** The workers read for `durationMs`, and close their readers. */
  | { readonly kind: 'run'; readonly durationMs: number };

/** A message from a process of workers: it is `ready`, or has carried out a command. */
export type Reply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'filled' }
  | { readonly kind: 'ran'; readonly tally: Tally };

/** The result of a run. */
export interface Tally extends Reads {
  readonly loads: number;
  readonly elapsedMs: number;
}
