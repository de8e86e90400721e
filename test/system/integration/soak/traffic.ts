import type { RefreshingCache, RefreshingValue } from '../../../../src/index.ts';
import { type Deed, drawDeed } from '../../simulation/deed.ts';
import type { Random } from '../../simulation/random.ts';
import type { Census } from '../../soak/census.ts';
import type { Instance, Payload, Tally } from './instance.ts';

/** Of a cache that is shared: the engines remember each name for a week. */
const FEW_KEYS = 40;
const POPULAR = 80;

/** Who is called. */
interface Scene {
  readonly instance: Instance;
  readonly tally: Tally;
  readonly value: Instance['values'][number];
  readonly cache: RefreshingCache<number, Payload>;
  readonly key: number;
  /** Of a caller who lives as long as the process. */
  readonly signal: AbortSignal;
  readonly isEven: () => boolean;
  readonly drop: (promise: Promise<unknown>) => void;
}

const DEEDS: Readonly<Record<string, Deed<Scene>>> = {
  refresh: {
    weight: 4,
    act: ({ drop, isEven, value, cache, key }) => drop(isEven() ? value.refresh() : cache.refresh(key)),
  },
  invalidate: { weight: 4, act: ({ value, cache, key }) => void [value.invalidate(), cache.invalidate(key)] },
  drop: { weight: 2, act: ({ cache, key }) => void cache.invalidate(key, { drop: true }) },
  set: { weight: 2, act: ({ value }) => void value.set({ id: 0, words: [] }) },
  delete: { weight: 4, act: ({ cache, key }) => void cache.delete(key) },
  listen: {
    weight: 4,
    act: ({ value, tally }) => {
      const off = value.on('load-ended', () => {
        tally.events += 1;
      });
      setTimeout(off, 1000);
    },
  },
  many: {
    weight: 4,
    act: ({ drop, cache, key, signal }) => drop(cache.getMany([key, key + 1, key + 2], { signal })),
  },
  task: { weight: 4, act: ({ drop, instance }) => drop(instance.task()) },
  execute: { weight: 2, act: ({ drop, instance }) => drop(instance.executor.execute()) },
  start: {
    weight: 4,
    act: ({ drop, instance }) => {
      drop(instance.executor.requestStart());
      instance.group.requestStart();
    },
  },
  clear: { weight: 1, act: ({ cache }) => void cache.clear() },
};

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
    const value = this.#pick(instance.values);
    const cache = this.#pick(instance.caches);
    const key = this.#key(instance, cache);
    const drop = (promise: Promise<unknown>): void => this.#drop(promise);
    const isEven = (): boolean => this.#dice.chance(1 / 2);
    const { tally, signal } = { tally: this.#tally, signal: this.#longLived };
    drawDeed(DEEDS, this.#dice).act({ instance, tally, value, cache, key, signal, isEven, drop });
  }

  /** Lets go of a promise, as careless callers do, but counts. */
  #drop(promise: Promise<unknown>): void {
    promise.then(undefined, () => {
      this.#tally.rejected += 1;
    });
  }
}
