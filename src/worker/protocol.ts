// The messages between the two threads. They use a port of their own, which arrives before user code is loaded: that code
// does not see it.

import type { MessagePort } from 'node:worker_threads';
import type { EncodedError } from './error-codec.ts';
import type { EncodedResult } from './result-codec.ts';

/** The only message on the port that user code shares with its parent: the port for all others. */
export interface Handshake {
  readonly port: MessagePort;
}

/** The first message to a thread. */
export interface Request {
  readonly kind: 'load';
  /** The URL of the module. */
  readonly module: string;
  /** The arguments of the load: the key or keys of a cache, and a context without its signal. */
  readonly args: readonly unknown[];
  readonly transfer: boolean;
}

export type ToThread =
  | Request
  /** Requests the next part: the last one was added, and the event loop has made a turn. */
  | { readonly kind: 'next' }
  | { readonly kind: 'abort'; readonly reason: EncodedError };

/** Containers that are sent entry by entry. */
export type Container = 'array' | 'object' | 'map' | 'set';

/**
 * A step in building the {@link EncodedResult}. `open` adds a new container to the open one and opens it; `fill` adds
 * entries to the open one. Without an open container the entry is the whole value.
 */
export type Part =
  | {
      readonly kind: 'open';
      readonly container: Container;
      readonly key: unknown;
      /** The container gets the next number. */
      readonly isShared: boolean;
    }
  | {
      readonly kind: 'fill';
      readonly keys: readonly unknown[];
      readonly values: readonly unknown[];
      readonly references: ReferencesOfPart | undefined;
    }
  | { readonly kind: 'close' };

/** The objects of a part that later parts may refer to, and the gaps of this part that refer to earlier ones. */
export interface ReferencesOfPart {
  /** Objects in the values that get the next numbers. */
  readonly shared: readonly unknown[];
  /** Gaps: the object that has the gap (the array of values itself, or an object in it) … */
  readonly holders: readonly unknown[];
  /** … the key of the gap in that object … */
  readonly keys: readonly unknown[];
  /** … and the number of the object that belongs there. */
  readonly numbers: readonly number[];
}

/** The step that failed: importing the module, the load itself, or cloning the result. */
export type FailedStep = 'module' | 'load' | 'clone';

export type FromThread =
  | Part
  /** All parts have been sent. */
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly step: FailedStep; readonly error: EncodedError };
