import type { EventType } from '../../../../src/index.ts';
import { type Deed, drawDeed } from '../../simulation/deed.ts';
import type { Cache, Service, Value } from './service.ts';
import { type Payload, payload } from './source.ts';
import type { World } from './world.ts';

const TYPES: readonly EventType[] = ['load-started', 'load-ended', 'changed', 'stale-served', 'round'];

/** The keys of the shared cache: the backends keep each name. */
const FEW_KEYS = 60;
/** Most reads are of recently read keys; over the hour there are millions of different ones. */
const POPULAR = 120;

/** For loads that end at once: a deadline that outlives its load shows in a pause. */
const LONG_TIMEOUT_MS = 600_000;

/** A value or a key, as a reader sees it. */
interface Reading {
  readonly world: World;
  get(options?: Parameters<Value['get']>[0]): Promise<Payload>;
  current(): unknown;
  peek(): unknown;
  inspect(): unknown;
  /** Some callers drop the promise, which must not become an unhandled rejection. */
  drop(promise: Promise<unknown>): void;
}

const READS: Readonly<Record<string, Deed<Reading>>> = {
  get: { weight: 30, act: ({ drop, get }) => drop(get()) },
  current: { weight: 15, act: ({ world, current }) => world.attempt(current) },
  peek: { weight: 2, act: ({ world, peek }) => world.attempt(peek) },
  inspect: { weight: 2, act: ({ world, inspect }) => world.attempt(inspect) },
  patient: { weight: 6, act: ({ world, drop, get }) => drop(get({ patience: world.dice.whole(0, 200) })) },
  'long-lived signal': {
    weight: 8,
    act: ({ world, drop, get }) => drop(get({ signal: world.longLived.signal })),
  },
  'long-lived signal, patient': {
    weight: 4,
    act: ({ world: { longLived, dice }, drop, get }) =>
      drop(get({ signal: longLived.signal, patience: dice.whole(0, 200) })),
  },
  'signal of a request': {
    weight: 4,
    act: ({ world: { census, dice, clock }, drop, get }) => {
      const request = new AbortController();
      census.add('signals of requests', request.signal);
      drop(get({ signal: request.signal, patience: 100 }));
      if (dice.chance(1 / 2)) clock.setTimeout(() => request.abort(), dice.whole(0, 100));
    },
  },
  'signal that is aborted at once': {
    weight: 1,
    act: ({ drop, get }) => drop(get({ signal: AbortSignal.abort() })),
  },
  waitUntil: {
    weight: 3,
    act: ({ world, drop, get }) => drop(get({ waitUntil: (end) => world.drop(end) })),
  },
};

/** Who is called: a value, or a key of a cache, of a service. */
interface Scene {
  readonly world: World;
  readonly service: Service;
  readonly traffic: Traffic;
  readonly value: Value;
  readonly cache: Cache;
  readonly key: number;
  readonly isKeyed: boolean;
}

const DEEDS: Readonly<Record<string, Deed<Scene>>> = {
  refresh: {
    weight: 6,
    act: ({ world, isKeyed, cache, key, value }) =>
      world.drop(isKeyed ? cache.refresh(key) : value.refresh()),
  },
  invalidate: {
    weight: 6,
    act: ({ isKeyed, cache, key, value }) => void (isKeyed ? cache.invalidate(key) : value.invalidate()),
  },
  drop: {
    weight: 3,
    act: ({ isKeyed, cache, key, value }) =>
      void (isKeyed ? cache.invalidate(key, { drop: true }) : value.invalidate({ drop: true })),
  },
  set: {
    weight: 4,
    act: ({ world, isKeyed, cache, key, value }) =>
      void (isKeyed ? cache.set(key, payload(world)) : value.set(payload(world))),
  },
  'request start': {
    weight: 6,
    act: ({ world, service, isKeyed, cache }) => {
      const { dice } = world;
      const member = isKeyed ? cache : dice.pick(service.executors);
      const wait = dice.chance(1 / 2);
      // A synchronous task whose first run fails throws.
      world.drop(new Promise<void>((resolve) => resolve(member.requestStart({ wait }))));
      service.group.requestStart(dice.chance(1 / 2) ? { waitUntil: (end) => world.drop(end) } : {});
    },
  },
  pause: {
    weight: 1,
    act: ({ world: { dice, clock }, service }) => {
      const member = dice.pick(service.members);
      member.pause();
      clock.setTimeout(() => member.resume(), dice.whole(0, 3000));
    },
  },
  listen: {
    weight: 6,
    act: ({ world: { dice, clock, census, tally }, service }) => {
      const listener = (): void => {
        tally.events += 1;
      };
      census.add('listeners of events', listener);
      clock.setTimeout(dice.pick(service.members).on(dice.pick(TYPES), listener), dice.whole(0, 10_000));
    },
  },
  reschedule: { weight: 1, act: ({ world, value }) => value.reschedule(world.dice.between(300, 2000)) },
  tag: {
    weight: 2,
    act: ({ world: { dice }, cache }) =>
      void cache.invalidateTag(dice.pick(['nl', 'be', `${dice.whole(0, 1e9)}`])),
  },
  where: { weight: 1, act: ({ cache }) => void cache.invalidateWhere((key) => key % 7 === 0) },
  delete: { weight: 6, act: ({ cache, key }) => void cache.delete(key) },
  clear: { weight: 1, act: ({ isKeyed, cache }) => void (isKeyed ? cache.clear() : cache.invalidate()) },
  many: { weight: 8, act: ({ traffic, cache }) => traffic.readMany(cache) },
  task: { weight: 2, act: ({ world, service }) => world.drop(service.task()) },
  execute: {
    weight: 3,
    act: ({ world, service }) => world.drop(world.dice.pick(service.executors).execute()),
  },
  'passing members': { weight: 1, act: ({ traffic }) => traffic.visit() },
  'inspect the group': {
    weight: 2,
    act: ({ service: { group } }) => void [group.health(), group.inspect()],
  },
  ready: {
    weight: 1,
    act: ({ world, service }) => world.drop(service.group.ready({ timeout: world.dice.whole(0, 1000) })),
  },
};

/** The callers of one service. */
export class Traffic {
  readonly #world: World;
  readonly #service: Service;
  #newestKey: number;
  #members = 0;

  constructor(world: World, service: Service) {
    this.#world = world;
    this.#service = service;
    this.#newestKey = world.dice.whole(0, 1_000_000);
  }

  /** Makes some reads and one or two other calls. */
  go(reads: number): void {
    const { dice, tally } = this.#world;
    for (let i = 0; i < reads; i++) {
      tally.reads += 1;
      if (dice.chance(1 / 2)) this.#readValue();
      else this.#readKey();
    }
    if (dice.chance(1 / 2)) this.#act();
  }

  #value(): Value {
    return this.#world.dice.pick([...this.#service.values, this.#service.alone]);
  }

  #key(cache: Cache): number {
    const { dice } = this.#world;
    if (cache === this.#service.caches.at(-1)) return dice.whole(1, FEW_KEYS);
    if (dice.chance(1 / 4)) this.#newestKey += 1;
    return this.#newestKey - dice.whole(1, POPULAR);
  }

  #readValue(): void {
    const value = this.#value();
    this.#read({
      get: (options) => value.get(options),
      current: () => value.current,
      peek: () => value.peek(),
      inspect: () => value.inspect(),
    });
  }

  #readKey(): void {
    const cache = this.#world.dice.pick(this.#service.caches);
    const key = this.#key(cache);
    this.#read({
      get: (options) => cache.get(key, options),
      current: () => cache.current(key),
      peek: () => cache.peek(key),
      inspect: () => cache.inspect(key),
    });
  }

  #read(reading: Omit<Reading, 'world' | 'drop'>): void {
    const world = this.#world;
    const deed = drawDeed(READS, world.dice);
    const drop = world.dice.chance(1 / 10) ? () => {} : (promise: Promise<unknown>) => world.drop(promise);
    deed.act({ ...reading, world, drop });
  }

  #act(): void {
    const world = this.#world;
    const value = this.#value();
    const cache = world.dice.pick(this.#service.caches);
    const key = this.#key(cache);
    const isKeyed = world.dice.chance(1 / 2);
    const scene = { world, service: this.#service, traffic: this, value, cache, key, isKeyed };
    drawDeed(DEEDS, world.dice).act(scene);
  }

  readMany(cache: Cache): void {
    const keys = Array.from({ length: 20 }, () => this.#key(cache));
    const { signal } = this.#world.longLived;
    this.#world.drop(
      cache.getMany(keys, this.#world.dice.chance(1 / 2) ? { signal } : { onError: () => {} }),
    );
  }

  /** A member that leaves the group after a while. */
  visit(): void {
    const world = this.#world;
    const { group, values } = this.#service;
    this.#members += 1;
    const name = `visitor ${this.#members}`;
    const load = async (): Promise<Payload> => {
      await world.after(20);
      return payload(world);
    };
    world.census.add('loads of passing members', load); // which is held by whoever holds anything of the member
    const common = { load, timeout: LONG_TIMEOUT_MS };
    const value = group.value({ ...common, name, schedule: values.length * 100 });
    const cache = group.cache<number, Payload>({ ...common, name: `${name}, keyed`, schedule: 500, max: 10 });
    for (const member of [value, cache]) world.census.add('members', member);
    world.drop(value.get());
    for (let key = 0; key < 20; key++) world.drop(cache.get(key));
    for (const member of [value, cache]) {
      world.clock.setTimeout(() => world.drop(member.close({ timeout: 100 })), world.dice.whole(0, 20_000));
    }
  }
}
