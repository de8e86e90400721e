import type { ReadOptions } from '../engine/reader.ts';
import { engineOf, entryOf } from '../value/lifecycle.ts';
import { RefreshingValue } from '../value/refreshing-value.ts';
import type { ValueStatus } from '../value/value-status.ts';

/** The value that a source holds. Its promise is another one after each replacement, and the same after `keep()`. */
export interface HeldValue<T> {
  readonly value: T | undefined;
  /** `undefined`: there is no value. */
  readonly promise: Promise<T> | undefined;
}

/** The ages of derived values that one question has found already: a value may be reached in many ways. */
export type KnownAges = Map<unknown, number>;

/** A source, as a derived value sees it. */
export interface Source<T> {
  /** The same object as long as the source lives. */
  readonly held: HeldValue<T>;
  /** Milliseconds since what it holds was loaded. */
  age(known: KnownAges): number;
}

/** A `RefreshingValue` as a source, of a derived value or of one that this is derived from. */
export class ValueSource<T> implements Source<T> {
  readonly held: HeldValue<T>;
  readonly #value: RefreshingValue<T>;

  constructor(value: RefreshingValue<T>) {
    this.held = entryOf(value);
    this.#value = value;
  }

  get(options?: ReadOptions): Promise<T> {
    return this.#value.get(options);
  }

  get current(): T {
    return this.#value.current;
  }

  age(): number {
    return engineOf(this.#value).options.clock.monotonic() - entryOf(this.#value).loadedAt;
  }

  get state(): ValueStatus<T>['state'] {
    return this.#value.inspect({ values: false }).state;
  }
}

/** It can be a {@link ValueSource}. */
export function isValue(received: unknown): received is RefreshingValue<unknown> {
  return received instanceof RefreshingValue;
}
