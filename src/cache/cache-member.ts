import { entryHealth, gateHealth } from '../executor/health.ts';
import type { Refresher } from '../executor/refresher.ts';
import type { HealthProblem, Member, Seat, Startable } from '../membership.ts';
import type { Policy } from '../policy.ts';
import type { KeyedEntries } from './keyed-entries.ts';

/** The state of a cache as a whole at one instant. A copy: it does not change. */
export interface CacheStatus {
  /** The `name` option. */
  readonly name: string;
  /** How many values it holds. */
  readonly size: number;
  /** How many keys have a load under way. */
  readonly running: number;
  /** How many keys have a value and a last load that failed. */
  readonly failing: number;
  /** Between `pause()` and `resume()`. */
  readonly paused: boolean;
  /** After `close()`. */
  readonly closed: boolean;
}

/** A cache as a member of a group. */
export class CacheMember<K, V> implements Member {
  readonly name: string;
  readonly isRequired: boolean = false;
  readonly #policy: Policy;
  readonly #entries: KeyedEntries<K, V>;
  readonly #refresher: Refresher<V>;
  #started: Startable | undefined;

  constructor(policy: Policy, entries: KeyedEntries<K, V>, refresher: Refresher<V>) {
    this.name = policy.name;
    this.#policy = policy;
    this.#entries = entries;
    this.#refresher = refresher;
  }

  /** Joins the group of its policy as who starts these keys. */
  join(keys: Startable): Seat {
    this.#started = keys;
    return (this.#policy.family as NonNullable<Policy['family']>).join(this);
  }

  startNext(until: number, hold: boolean): boolean {
    return this.#started?.startNext(until, hold) ?? false;
  }

  compareClocks(): void {
    this.#started?.compareClocks();
  }

  /** A key that can't be had makes no instance unfit to serve: only the whole cache could. */
  health(): HealthProblem[] {
    const { name, whenTooStale, whenClosed, clock } = this.#policy;
    const about = { name, isRequired: false };
    const now = clock.monotonic();
    const problems = this.#entries
      .awake()
      .flatMap((entry) => entryHealth(entry, { whenTooStale, whenClosed }, about, now))
      .map((problem) => ({ ...problem, isFatal: false }));
    return [...gateHealth(this.#refresher.gate, name), ...problems];
  }

  status(): CacheStatus {
    const { gate } = this.#refresher;
    const awake = this.#entries.awake();
    return {
      name: this.name,
      size: this.#entries.shelf.size,
      running: awake.filter(({ flight }) => flight !== undefined).length,
      failing: awake.filter(({ isLoaded, failures }) => isLoaded && failures > 0).length,
      paused: gate === 'paused',
      closed: gate === 'closed',
    };
  }

  close(timeoutMs: number): Promise<void> {
    return this.#refresher.close(timeoutMs);
  }

  async firstLoad(): Promise<void> {}
}
