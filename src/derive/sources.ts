import type { ReadOptions } from '../engine/reader.ts';
import { refresherOf } from '../value/lifecycle.ts';
import { entryOf } from '../value/periodic.ts';
import { RefreshingValue } from '../value/refreshing-value.ts';

/** The value that a source holds. Its promise is another one after each replacement, and the same after `keep()`. */
export interface Held<T> {
  readonly value: T | undefined;
  /** `undefined`: there is no value. */
  readonly promise: Promise<T> | undefined;
}

/** A source, as a derived value sees it. */
export interface Source<T> {
  /** The same object as long as the source lives. */
  readonly held: Held<T>;
  get(options?: ReadOptions): Promise<T>;
  readonly current: T;
  /** Milliseconds since what it holds was loaded. */
  age(): number;
  inspect(options: { readonly values: false }): {
    readonly state: 'empty' | 'fresh' | 'stale' | 'too-stale' | 'absent';
  };
}

/** A `RefreshingValue` as a source. */
export class ValueSource<T> implements Source<T> {
  readonly held: Held<T>;
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
    return refresherOf(this.#value).options.clock.monotonic() - entryOf(this.#value).loadedAt;
  }

  inspect(options: { readonly values: false }): ReturnType<Source<T>['inspect']> {
    return this.#value.inspect(options);
  }
}

/** It can be a {@link ValueSource}. */
export function isValue(received: unknown): received is RefreshingValue<unknown> {
  return received instanceof RefreshingValue;
}
