import type { EventType, PeriodicExecutor } from '../../../../src/index.ts';
import type { Cache, Service, Value } from './service.ts';
import { type Payload, payload } from './source.ts';
import type { World } from './world.ts';

const TYPES: readonly EventType[] = ['load-started', 'load-ended', 'changed', 'stale-served', 'round'];

/** The keys of the shared cache: the backends keep each name. */
const FEW_KEYS = 60;
/** Most reads are of recently read keys; over the hour there are millions of different ones. */
const POPULAR = 120;

const READS = {
  get: 30,
  current: 15,
  peek: 2,
  inspect: 2,
  patient: 6,
  'long-lived signal': 8,
  'long-lived signal, patient': 4,
  'signal of a request': 4,
  'signal that is aborted at once': 1,
  waitUntil: 3,
} as const;

const DEEDS = {
  refresh: 6,
  invalidate: 6,
  drop: 3,
  set: 4,
  'request start': 6,
  pause: 1,
  listen: 6,
  reschedule: 1,
  tag: 2,
  where: 1,
  delete: 6,
  clear: 1,
  many: 8,
  task: 2,
  execute: 3,
  'passing members': 1,
  'inspect the group': 2,
  ready: 1,
} as const;

/** For loads that end at once: a deadline that outlives its load shows in a pause. */
const LONG_TIMEOUT_MS = 600_000;

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
    const { dice } = this.#world;
    for (let i = 0; i < reads; i++) {
      this.#world.tally.reads += 1;
      if (dice.chance(1 / 2)) this.#readValue();
      else this.#readKey();
    }
    if (dice.chance(1 / 2)) this.#act();
  }

  #pick<T>(list: readonly T[]): T {
    return this.#world.dice.pick(list);
  }

  #value(): Value {
    return this.#pick([...this.#service.values, this.#service.alone]);
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
    const cache = this.#pick(this.#service.caches);
    const key = this.#key(cache);
    this.#read({
      get: (options) => cache.get(key, options),
      current: () => cache.current(key),
      peek: () => cache.peek(key),
      inspect: () => cache.inspect(key),
    });
  }

  #read(reading: {
    get(options?: Parameters<Value['get']>[0]): Promise<Payload>;
    current(): unknown;
    peek(): unknown;
    inspect(): unknown;
  }): void {
    const world = this.#world;
    const { dice, longLived, clock } = world;
    const how = dice.weighted<keyof typeof READS>(READS);
    // Some callers drop the promise, which must not become an unhandled rejection.
    const drop = dice.chance(1 / 10) ? () => {} : (promise: Promise<unknown>) => world.drop(promise);
    switch (how) {
      case 'get':
        drop(reading.get());
        return;
      case 'current':
      case 'peek':
      case 'inspect':
        world.attempt(() => reading[how]());
        return;
      case 'patient':
        drop(reading.get({ patience: dice.whole(0, 200) }));
        return;
      case 'long-lived signal':
        drop(reading.get({ signal: longLived.signal }));
        return;
      case 'long-lived signal, patient':
        drop(reading.get({ signal: longLived.signal, patience: dice.whole(0, 200) }));
        return;
      case 'signal of a request': {
        const request = new AbortController();
        world.census.add('signals of requests', request.signal);
        drop(reading.get({ signal: request.signal, patience: 100 }));
        if (dice.chance(1 / 2)) clock.setTimeout(() => request.abort(), dice.whole(0, 100));
        return;
      }
      case 'signal that is aborted at once':
        drop(reading.get({ signal: AbortSignal.abort() }));
        return;
      case 'waitUntil':
        drop(reading.get({ waitUntil: (end) => world.drop(end) }));
        return;
    }
  }

  #act(): void {
    const world = this.#world;
    const { dice, clock } = world;
    const { group, caches, executors, task, members } = this.#service;
    const value = this.#value();
    const cache = this.#pick(caches);
    const key = this.#key(cache);
    const isKeyed = dice.chance(1 / 2);
    switch (dice.weighted<keyof typeof DEEDS>(DEEDS)) {
      case 'refresh':
        world.drop(isKeyed ? cache.refresh(key) : value.refresh());
        return;
      case 'invalidate':
        isKeyed ? cache.invalidate(key) : value.invalidate();
        return;
      case 'drop':
        isKeyed ? cache.invalidate(key, { drop: true }) : value.invalidate({ drop: true });
        return;
      case 'set':
        isKeyed ? cache.set(key, payload(world)) : value.set(payload(world));
        return;
      case 'request start': {
        const member = isKeyed ? cache : this.#pick(executors);
        const wait = dice.chance(1 / 2);
        // A synchronous task whose first run fails throws.
        world.drop(new Promise<void>((resolve) => resolve(member.requestStart({ wait }))));
        group.requestStart(dice.chance(1 / 2) ? { waitUntil: (end) => world.drop(end) } : {});
        return;
      }
      case 'pause': {
        const member = this.#pick(members);
        member.pause();
        clock.setTimeout(() => member.resume(), dice.whole(0, 3000));
        return;
      }
      case 'listen': {
        const listener = (): void => {
          world.tally.events += 1;
        };
        world.census.add('listeners of events', listener);
        clock.setTimeout(this.#pick(members).on(this.#pick(TYPES), listener), dice.whole(0, 10_000));
        return;
      }
      case 'reschedule':
        value.reschedule(dice.between(300, 2000));
        return;
      case 'tag':
        cache.invalidateTag(this.#pick(['nl', 'be', `${dice.whole(0, 1e9)}`]));
        return;
      case 'where':
        cache.invalidateWhere((key) => key % 7 === 0);
        return;
      case 'delete':
        cache.delete(key);
        return;
      case 'clear':
        isKeyed ? cache.clear() : cache.invalidate();
        return;
      case 'many':
        this.#readMany(cache);
        return;
      case 'task':
        world.drop(task());
        return;
      case 'execute':
        world.drop(this.#pick(executors as readonly PeriodicExecutor[]).execute());
        return;
      case 'passing members':
        this.#visit();
        return;
      case 'inspect the group':
        group.health();
        group.inspect();
        return;
      case 'ready':
        world.drop(group.ready({ timeout: dice.whole(0, 1000) }));
        return;
    }
  }

  #readMany(cache: Cache): void {
    const keys = Array.from({ length: 20 }, () => this.#key(cache));
    const { signal } = this.#world.longLived;
    this.#world.drop(
      cache.getMany(keys, this.#world.dice.chance(1 / 2) ? { signal } : { onError: () => {} }),
    );
  }

  /** A member that leaves the group after a while. */
  #visit(): void {
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
