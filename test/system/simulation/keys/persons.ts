import { editionOf, type Mark } from '../data/edition.ts';
import { counted, Orders } from '../data/orders.ts';
import { type Deed, drawDeed } from '../deed.ts';
import type { HeldKey } from './held-key.ts';
import type { KeysInstance } from './instance.ts';
import { KEYS } from './scenario.ts';
import type { KeyOrder } from './watch.ts';
import type { KeysWorld } from './world.ts';

/** A key of an instance, and who uses it. */
interface Scene {
  readonly persons: Persons;
  readonly key: HeldKey;
}

/** Calls of readers. */
const reads: Readonly<Record<string, Deed<Scene>>> = {
  get: { weight: 20, act: ({ persons, key }) => persons.read(key) },
  patient: { weight: 2, act: ({ persons, key }) => persons.read(key, { patience: 200 }) },
  all: { weight: 4, act: ({ persons, key }) => persons.readAll(key.process) },
  invalidate: { weight: 0.3, act: ({ persons, key }) => persons.invalidate(key) },
};

/** What operators do. */
const orders: Readonly<Record<string, Deed<Scene>>> = {
  set: { weight: 5, act: ({ persons, key }) => persons.set(key, true) },
  setHere: { weight: 1, act: ({ persons, key }) => persons.set(key, false) },
  refresh: { weight: 2, act: ({ persons, key }) => persons.refresh(key) },
  invalidate: { weight: 3, act: ({ persons, key }) => persons.mark(key, 'invalidated') },
  drop: { weight: 4, act: ({ persons, key }) => persons.mark(key, 'dropped') },
  tag: { weight: 4, act: ({ persons, key }) => persons.markTag(key) },
  clear: { weight: 2, act: ({ persons, key }) => persons.clear(key) },
  dropHere: { weight: 0.5, act: ({ persons, key }) => persons.dropHere(key) },
};

/** Readers and operators of all instances. */
export class Persons {
  readonly #world: KeysWorld;
  readonly #orders: Orders<KeyOrder>;
  #isOver = false;

  constructor(world: KeysWorld) {
    this.#world = world;
    this.#orders = new Orders(world);
  }

  begin(): void {
    const { scenario, random } = this.#world;
    const isOver = (): boolean => this.#isOver;
    for (let index = 0; index < scenario.instances; index++) {
      for (const [deeds, everyMs] of [
        [reads, scenario.readsEvery],
        [orders, scenario.ordersEvery],
      ] as const) {
        this.#world.nowAndThen(index, everyMs, isOver, (instance) => {
          const key = instance.keyOf(random.pick(KEYS));
          drawDeed(deeds, random).act({ persons: this, key });
        });
      }
    }
  }

  end(): void {
    this.#isOver = true;
  }

  read(key: HeldKey, options?: { readonly patience: number }): void {
    const { watches } = this.#world;
    const { process } = key;
    for (const watch of watches) watch.read?.(process);
    const read = process.cache.get(key.key, options).then(
      (value) => {
        for (const watch of watches) watch.served?.(key, value);
      },
      () => {},
    );
    void counted(process, read);
  }

  readAll(instance: KeysInstance): void {
    for (const key of instance.keys.values()) this.read(key);
  }

  invalidate(key: HeldKey): void {
    key.invalidatedAt = this.#world.timeline.now;
    this.#world.trace.add(key.name, () => 'invalidate here');
    key.process.cache.invalidate(key.key, { here: true });
  }

  set(key: HeldKey, isForAll: boolean): void {
    const { random } = this.#world;
    const serial = this.#world.next();
    const value = editionOf(serial, random.pick(['full', 'full', 'half']));
    key.own.add(serial);
    const { cache } = key.process;
    this.#order({ kind: isForAll ? 'set' : 'set here', instance: key, of: 'key', serial }, async () =>
      cache.set(key.key, value, { here: !isForAll }),
    );
  }

  refresh(key: HeldKey): void {
    this.#order({ kind: 'refresh', instance: key, of: 'key' }, () => key.process.cache.refresh(key.key));
  }

  mark(key: HeldKey, mark: Mark): void {
    this.#order({ kind: 'mark', instance: key, of: 'key', mark }, () =>
      key.process.cache.invalidate(key.key, { ...(mark === 'dropped' && { drop: true }) }),
    );
  }

  markTag(key: HeldKey): void {
    this.#order({ kind: 'mark', instance: key, of: 'tag', mark: 'invalidated' }, () =>
      key.process.cache.invalidateTag(key.tag),
    );
  }

  clear(key: HeldKey): void {
    this.#order({ kind: 'mark', instance: key, of: 'all', mark: 'dropped' }, () => key.process.cache.clear());
  }

  dropHere(key: HeldKey): void {
    key.invalidatedAt = this.#world.timeline.now;
    this.#order({ kind: 'drop', instance: key, of: 'key' }, async () =>
      key.process.cache.delete(key.key, { here: true }),
    );
  }

  #order(about: Omit<KeyOrder, 'id' | 'at' | 'outcome'>, ask: () => Promise<unknown>): void {
    const { timeline } = this.#world;
    const order: KeyOrder = { ...about, id: this.#world.next(), at: timeline.now, outcome: undefined };
    const { of, kind, mark, instance } = order;
    const subject = { key: '', tag: ` of the tag ${instance.tag}`, all: ' of all keys' }[of];
    void counted(instance.process, this.#orders.give(order, `${mark ?? kind}${subject}`, ask));
  }
}
