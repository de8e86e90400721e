import type { RefreshingValue } from 'tickless';
import type { Latency, LoadCounts } from '../reports.ts';

/** What an instance tells the demo, several times a second. */
export interface InstanceReport {
  readonly loads: LoadCounts;
  /** A load runs, or a look for what others have loaded. */
  readonly running: boolean;
  readonly isHolder: boolean;
  /** Of what is served; `undefined`: it is not what the cluster shares. */
  readonly version: number | undefined;
  /** Milliseconds. */
  readonly age: number;
  readonly edition: number;
  /** Why the last edition that was loaded here was refused; `undefined`: it was not. */
  readonly refused: string | undefined;
  /** Who has pinned what is served, and why; `undefined`: it is not pinned. */
  readonly pinned: string | undefined;
  /** The longest age of a value that was served, in milliseconds. */
  readonly oldestServed: number;
  /** How long reads of a value that was there took, pauses of the process included. */
  readonly waits: Latency;
  /** How many of them had to wait for it. */
  readonly waited: number;
  /** Milliseconds from the start of the first load to the first value. */
  readonly firstValueAfter: number;
  /** It was not loaded here. */
  readonly isFirstAdopted: boolean;
}

/** The events that instances tell at once: the beginnings and ends of loads, the steps of rounds, new values. */
export const TOLD = [
  'load-started',
  'acquired',
  'took-over',
  'failed',
  'timed-out',
  'published',
  'lost',
  'publish-refused',
  'refused',
  'changed',
] as const;

/** One of these events. */
export interface InstanceEvent {
  readonly type: (typeof TOLD)[number];
  /** The fencing token of the lease, or the version of the snapshot; `undefined`: without a lease. */
  readonly token: number | undefined;
  /** What is served from now on, or was published. */
  readonly edition?: number | undefined;
  /** Of `published` and `publish-refused`: the version in the store. */
  readonly version?: number | undefined;
  /** How many codes the refused edition has, and the one that is served; `undefined`: none was refused. */
  readonly sizes?: readonly [refused: number | undefined, served: number | undefined];
}

/** What an operator does at an instance. */
export type Order =
  | { readonly kind: 'rollback'; readonly options: Parameters<RefreshingValue<unknown>['rollback']>[0] }
  | { readonly kind: 'unpin' };
