// What the two threads say to each other, over a port that the user's code does not know of.

import type { Carried } from './carried.ts';
import type { Thrown } from './thrown.ts';

/** What is asked of a thread; the first message to it. */
export interface Request {
  readonly kind: 'load';
  /** The URL of the module. */
  readonly module: string;
  /** The arguments of the load: the key or the keys, if there are, and a context that lacks its signal. */
  readonly args: readonly unknown[];
  readonly transfer: boolean;
}

export type ToThread =
  | Request
  /** The part has been put in its place, and the event loop has made a turn. */
  | { readonly kind: 'next' }
  | { readonly kind: 'abort'; readonly reason: Thrown };

/** What is built entry by entry. */
export type Container = 'array' | 'object' | 'map' | 'set';

/**
 * A step in building the {@link Carried}. `open` makes a container and puts it into the one that is open; `fill` puts
 * entries into the one that is open, be it none: then it is the whole.
 */
export type Part =
  | {
      readonly kind: 'open';
      readonly container: Container;
      readonly key: unknown;
      /** It gets the next number. */
      readonly isShared: boolean;
    }
  | {
      readonly kind: 'fill';
      readonly keys: readonly unknown[];
      readonly values: readonly unknown[];
      readonly references: ReferencesOfPart | undefined;
    }
  | { readonly kind: 'close' };

/** What objects of a part are to be put in again later, and what is to be put into this part. */
export interface ReferencesOfPart {
  /** Objects in its values that get the next numbers. */
  readonly shared: readonly unknown[];
  /** Objects in its values, its array of values among them, in which something is missing … */
  readonly holders: readonly unknown[];
  /** … under such a key each … */
  readonly keys: readonly unknown[];
  /** … and the number of what is missing. */
  readonly numbers: readonly number[];
}

/** Where a load failed: its module, the load itself, on the way back. */
export type FailedStep = 'module' | 'load' | 'clone';

export type FromThread =
  | Part
  /** All parts were sent. */
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly step: FailedStep; readonly thrown: Thrown };
