import type { KeyedEntries } from '../cache/keyed-entries.ts';
import { gateHealth } from '../engine/health.ts';
import type { Refresher } from '../engine/refresher.ts';
import { reasonOf, showKey } from '../errors.ts';
import type { HealthProblem, Member, Refreshable, StartOfOne } from './membership.ts';

/** The state of a cache as a whole at one instant. A copy: it does not change. */
export interface CacheStatus {
  /** The `name` option. */
  readonly name: string;
  /** How many values it holds. */
  readonly size: number;
  /** How many keys have a load under way. */
  readonly running: number;
  /** How many keys have a last load that failed. */
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
  readonly #entries: KeyedEntries<K, V>;
  readonly #refresher: Refresher<V>;
  readonly #keys: Refreshable;

  /** @param keys those of its keys that are due. */
  constructor(name: string, entries: KeyedEntries<K, V>, refresher: Refresher<V>, keys: Refreshable) {
    this.name = name;
    this.#entries = entries;
    this.#refresher = refresher;
    this.#keys = keys;
  }

  startNext(start: StartOfOne): boolean {
    return this.#keys.startNext(start);
  }

  hold(): void {
    this.#keys.hold();
  }

  look(): void {
    this.#keys.look();
  }

  compareClocks(): void {
    this.#keys.compareClocks();
  }

  /** Keys that can't be had make no instance unfit to serve. They are told as one. */
  health(): HealthProblem[] {
    const failing = this.#entries.failing();
    const gate = gateHealth(this.#refresher.gate, this.name);
    const cluster = this.#refresher.clusterHealth();
    const [first] = failing;
    if (first === undefined) return [...gate, ...cluster];
    const { key, lastError: error } = first;
    const keys = failing.length === 1 ? 'a key' : `${failing.length} keys`;
    const message = `${keys} failed, such as ${showKey(key)}: ${reasonOf(error as Error)}`;
    return [...gate, { name: this.name, key, kind: 'failing', isFatal: false, message, error }, ...cluster];
  }

  status(): CacheStatus {
    const { gate } = this.#refresher;
    const awake = this.#entries.awake();
    return {
      name: this.name,
      size: this.#entries.shelf.size,
      running: awake.filter(({ flight }) => flight !== undefined).length,
      failing: this.#entries.failing().length,
      paused: gate === 'paused',
      closed: gate === 'closed',
    };
  }

  close(timeoutMs: number): Promise<void> {
    return this.#refresher.close(timeoutMs);
  }

  async firstLoad(): Promise<void> {}
}
