import type { RefreshingCache, RefreshingValue } from '../../../../src/index.ts';
import type { Random } from '../../simulation/random.ts';
import type { Census } from '../../soak/census.ts';
import type { Instance, Payload, Tally } from './instance.ts';

/** Of a cache that is shared: the engines remember each name for a week. */
const FEW_KEYS = 40;
const POPULAR = 80;

const DEEDS = {
  refresh: 4,
  invalidate: 4,
  drop: 2,
  set: 2,
  delete: 4,
  listen: 4,
  many: 4,
  task: 4,
  execute: 2,
  start: 4,
  clear: 1,
} as const;

/** What the callers of the instances do. */
export class Traffic {
  readonly #dice: Random;
  readonly #tally: Tally;
  readonly #census: Census;
  readonly #longLived: AbortSignal;
  #newestKey = 0;

  constructor(dice: Random, tally: Tally, census: Census, longLived: AbortSignal) {
    this.#dice = dice;
    this.#tally = tally;
    this.#census = census;
    this.#longLived = longLived;
  }

  go(instance: Instance, reads: number): void {
    for (let i = 0; i < reads; i++) {
      this.#tally.reads += 1;
      const value = this.#pick(instance.values);
      const cache = this.#pick(instance.caches);
      const key = this.#key(instance, cache);
      if (this.#dice.chance(1 / 2)) this.#read((options) => value.get(options));
      else this.#read((options) => cache.get(key, options));
    }
    if (this.#dice.chance(1 / 4)) this.#act(instance);
  }

  #pick<T>(list: readonly T[]): T {
    return this.#dice.pick(list);
  }

  #key(instance: Instance, cache: RefreshingCache<number, Payload>): number {
    if (cache === instance.caches.at(-1)) return this.#dice.whole(1, FEW_KEYS);
    if (this.#dice.chance(1 / 50)) this.#newestKey += 1;
    return this.#newestKey + this.#dice.whole(1, POPULAR);
  }

  #read(get: RefreshingValue<Payload>['get']): void {
    switch (this.#dice.weighted({ plain: 8, patient: 2, 'long-lived signal': 3, request: 1 })) {
      case 'plain':
        this.#drop(get());
        return;
      case 'patient':
        this.#drop(get({ patience: this.#dice.whole(0, 100), signal: this.#longLived }));
        return;
      case 'long-lived signal':
        this.#drop(get({ signal: this.#longLived }));
        return;
      case 'request': {
        const request = new AbortController();
        this.#census.add('signals of requests', request.signal);
        this.#drop(get({ signal: request.signal, patience: 50 }));
        if (this.#dice.chance(1 / 2)) setTimeout(() => request.abort(), this.#dice.whole(0, 50));
      }
    }
  }

  #act(instance: Instance): void {
    const { executor, group, task } = instance;
    const value = this.#pick(instance.values);
    const cache = this.#pick(instance.caches);
    const key = this.#key(instance, cache);
    switch (this.#dice.weighted<keyof typeof DEEDS>(DEEDS)) {
      case 'refresh':
        this.#drop(this.#dice.chance(1 / 2) ? value.refresh() : cache.refresh(key));
        return;
      case 'invalidate':
        value.invalidate();
        cache.invalidate(key);
        return;
      case 'drop':
        cache.invalidate(key, { drop: true });
        return;
      case 'set':
        value.set({ id: 0, words: [] });
        return;
      case 'delete':
        cache.delete(key);
        return;
      case 'listen': {
        const off = value.on('load-ended', () => {
          this.#tally.events += 1;
        });
        setTimeout(off, 1000);
        return;
      }
      case 'many':
        this.#drop(cache.getMany([key, key + 1, key + 2], { signal: this.#longLived }));
        return;
      case 'task':
        this.#drop(task());
        return;
      case 'execute':
        this.#drop(executor.execute());
        return;
      case 'start':
        this.#drop(executor.requestStart());
        group.requestStart();
        return;
      case 'clear':
        cache.clear();
        return;
    }
  }

  /** Lets go of a promise, as careless callers do, but counts. */
  #drop(promise: Promise<unknown>): void {
    promise.then(undefined, () => {
      this.#tally.rejected += 1;
    });
  }
}
