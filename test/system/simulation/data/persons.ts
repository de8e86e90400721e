import { type Deed, drawDeed } from '../deed.ts';
import { editionOf, type Mark } from './edition.ts';
import type { DataInstance } from './instance.ts';
import { counted, Orders } from './orders.ts';
import type { Order } from './watch.ts';
import type { DataWorld } from './world.ts';

/** An instance, and who uses it. */
interface Scene {
  readonly world: DataWorld;
  readonly persons: Persons;
  readonly instance: DataInstance;
}

/** Calls of readers. */
const reads: Readonly<Record<string, Deed<Scene>>> = {
  get: { weight: 20, act: ({ persons, instance }) => persons.read(instance) },
  patient: { weight: 3, act: ({ persons, instance }) => persons.read(instance, { patience: 200 }) },
  current: { weight: 3, act: ({ persons, instance }) => persons.current(instance) },
  invalidate: { weight: 1, act: ({ persons, instance }) => persons.invalidate(instance) },
};

/** What operators do with a value. */
const orders: Readonly<Record<string, Deed<Scene>>> = {
  refresh: { weight: 4, act: ({ persons, instance }) => persons.refresh(instance, false) },
  set: { weight: 3, act: ({ persons, instance }) => persons.set(instance, true) },
  setHere: { weight: 2, act: ({ persons, instance }) => persons.set(instance, false) },
  drop: { weight: 1, act: ({ persons, instance }) => persons.drop(instance) },
  force: { weight: 6, act: ({ persons, instance }) => persons.force(instance) },
};

/** What operators do with versions. */
const ordersOfVersions: Readonly<Record<string, Deed<Scene>>> = {
  rollback: { weight: 8, act: ({ persons, instance }) => void persons.rollback(instance) },
  unpin: { weight: 4, act: ({ persons, instance }) => persons.unpin(instance) },
  refreshUnpins: { weight: 2, act: ({ persons, instance }) => persons.refresh(instance, true) },
};

/** What operators do with the value on all instances. */
const ordersForAll: Readonly<Record<string, Deed<Scene>>> = {
  set: { weight: 4, act: ({ persons, instance }) => persons.set(instance, true) },
  refresh: { weight: 2, act: ({ persons, instance }) => persons.refresh(instance, false, true) },
  invalidate: { weight: 3, act: ({ persons, instance }) => persons.mark(instance, 'invalidated') },
  drop: { weight: 4, act: ({ persons, instance }) => persons.mark(instance, 'dropped') },
};

/** Readers and operators of all instances. */
export class Persons {
  readonly #world: DataWorld;
  readonly #orders: Orders<Order>;
  #isOver = false;

  constructor(world: DataWorld) {
    this.#world = world;
    this.#orders = new Orders(world);
  }

  begin(): void {
    const world = this.#world;
    const { marks, markRandom } = world;
    const { instances, readsEvery, ordersEvery, hasPins } = world.scenario;
    const all = hasPins ? { ...orders, ...ordersOfVersions } : orders;
    const isOver = (): boolean => this.#isOver;
    for (let index = 0; index < instances; index++) {
      for (const [deeds, everyMs] of [
        [reads, readsEvery],
        [all, ordersEvery],
      ] as const) {
        world.nowAndThen(index, everyMs, isOver, (instance) => {
          drawDeed(deeds, world.random).act({ world, persons: this, instance });
        });
      }
      if (!marks.isMarked) continue;
      const act = (instance: DataInstance): void =>
        drawDeed(ordersForAll, markRandom).act({ world, persons: this, instance });
      world.nowAndThen(index, marks.ordersEvery, isOver, act, markRandom);
    }
  }

  end(): void {
    this.#isOver = true;
  }

  read(instance: DataInstance, options?: { readonly patience: number }): void {
    for (const watch of this.#world.watches) watch.read?.(instance);
    const read = instance.prices.get(options).then(
      (value) => {
        for (const watch of this.#world.watches) watch.served?.(instance, value);
      },
      () => {},
    );
    void counted(instance, read);
  }

  current(instance: DataInstance): void {
    try {
      const { current } = instance.prices;
      for (const watch of this.#world.watches) watch.served?.(instance, current);
    } catch {
      // it has no value
    }
  }

  invalidate(instance: DataInstance): void {
    instance.invalidatedAt = this.#world.timeline.now;
    instance.prices.invalidate({ here: true });
  }

  refresh(instance: DataInstance, unpins: boolean, everywhere?: true): void {
    const { prices } = instance;
    const about = { kind: 'refresh', unpins, ...(everywhere && { everywhere }) } as const;
    this.#order(instance, about, async () => {
      if (unpins) await prices.unpin();
      return prices.refresh({ ...(!everywhere && { here: true }) });
    });
  }

  /** For all instances. */
  mark(instance: DataInstance, mark: Mark): void {
    this.#order(instance, { kind: 'mark', mark }, async () =>
      instance.prices.invalidate({ ...(mark === 'dropped' && { drop: true }) }),
    );
  }

  set(instance: DataInstance, everywhere: boolean): void {
    const { random, scenario } = this.#world;
    const serial = this.#world.next();
    const value = editionOf(serial, random.pick(['full', 'full', 'half']));
    const isShared = everywhere && scenario.hasStore;
    instance.own.add(serial);
    this.#order(instance, { kind: isShared ? 'set' : 'set here', serial }, async () =>
      instance.prices.set(value, { here: !isShared }),
    );
  }

  drop(instance: DataInstance): void {
    this.#order(instance, { kind: 'drop' }, async () =>
      instance.prices.invalidate({ drop: true, here: true }),
    );
  }

  /** Past the guard, where a refused value can be looked at. */
  force(instance: DataInstance): void {
    const digest = instance.status?.refused?.digest;
    if (digest === undefined) return;
    this.#order(instance, { kind: 'refresh', forces: true }, () =>
      instance.prices.refresh({ force: digest }),
    );
  }

  /** @returns when it has settled. */
  async rollback(instance: DataInstance, holdMs: number = this.#hold()): Promise<void> {
    const { prices } = instance;
    const isNamed = instance.status?.pinned !== undefined || this.#world.random.chance(0.3);
    const hold = holdMs === Infinity ? {} : { hold: holdMs };
    if (!isNamed)
      return this.#order(instance, { kind: 'rollback', holdMs }, (note) =>
        prices.rollback({ by: 'ann', note, ...hold }),
      );
    const versions = await prices.history().catch(() => []);
    const before = versions.slice(1);
    if (before.length === 0 || instance.closing !== 'no') return;
    const to = this.#world.random.pick(before).version;
    return this.#order(instance, { kind: 'rollback', to, holdMs }, (note) =>
      prices.rollback({ by: 'ann', note, to, ...hold }),
    );
  }

  unpin(instance: DataInstance): Promise<void> {
    return this.#order(instance, { kind: 'unpin' }, () => instance.prices.unpin());
  }

  #hold(): number {
    return this.#world.random.pick([Infinity, Infinity, 1000, 5000, 90_000]);
  }

  #order(
    instance: DataInstance,
    about: Pick<Order, 'kind' | 'serial' | 'to' | 'holdMs' | 'forces' | 'unpins' | 'mark' | 'everywhere'>,
    ask: (note: string) => Promise<unknown>,
  ): Promise<void> {
    const { timeline } = this.#world;
    const order: Order = { ...about, id: this.#world.next(), instance, at: timeline.now, outcome: undefined };
    const words = `${about.mark ?? about.kind}${about.everywhere ? ' everywhere' : ''}${about.forces ? ' past the guard' : ''}${about.to === undefined ? '' : ` to ${about.to}`}`;
    return counted(
      instance,
      this.#orders.give(order, words, () => ask(noteOf(order))),
    );
  }
}

/** The note by which a snapshot of a rollback is known. */
export function noteOf({ id }: Pick<Order, 'id'>): string {
  return `order ${id}`;
}

/** The order whose rollback wrote a snapshot, if one did. */
export function orderIn(payload: string): number | undefined {
  const [, id] = /"note":"order (\d+)"/.exec(payload) ?? [];
  return id === undefined ? undefined : Number(id);
}
