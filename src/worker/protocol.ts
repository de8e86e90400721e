// The messages between the two threads. They use a port of their own, which arrives before user code is loaded: that code
// does not see it.

import type { MessagePort } from 'node:worker_threads';
import type { Chunk } from '../chunks/chunk.ts';
import type { EncodedError } from './error-codec.ts';

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
  /** Requests the next chunk: the last one was added, and the event loop has made a turn. */
  | { readonly kind: 'next' }
  | { readonly kind: 'abort'; readonly reason: EncodedError };

/** The step that failed: importing the module, the load itself, or cloning the result. */
export type FailedStep = 'module' | 'load' | 'clone';

export type FromThread =
  /** The next chunk of the encoded result. */
  | Chunk
  /** All chunks have been sent. */
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly step: FailedStep; readonly error: EncodedError };
