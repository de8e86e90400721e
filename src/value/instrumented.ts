import type { Instrument } from '../observe/instrument.ts';
import type { Listeners } from '../observe/listeners.ts';
import { optionError } from '../option-error.ts';
import type { GroupLike } from '../options/group-handle.ts';
import { engineOf, Lifecycle } from './lifecycle.ts';

/** A value, a cache, an executor, or a group of them. */
export type Observed<T = unknown> = Lifecycle<T> | GroupLike;

/**
 * Lets an instrument hear of a member, or of all members of a group, until the returned function is called.
 *
 * @throws {TicklessError} `OPTION` when it is neither.
 */
export function instrumented<T>(source: Observed<T>, instrument: Instrument): () => void {
  return listenersOf(source).instrument(instrument);
}

function listenersOf<T>(source: Observed<T>): Listeners {
  if (source instanceof Lifecycle) return engineOf(source).events.own;
  const listeners = source?.handle?.listeners;
  if (listeners !== undefined) return listeners;
  const rule = 'must be a RefreshGroup, or a value, cache or executor, of this copy of tickless';
  throw optionError([{ option: 'source', rule, received: source }], { member: 'tickless' });
}
