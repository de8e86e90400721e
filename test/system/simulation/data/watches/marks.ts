import type { TicklessEvent } from '../../../../../src/index.ts';
import type { DataInstance } from '../instance.ts';
import type { Written } from '../shelf.ts';
import type { DataRun, DataWatch, Order, Question } from '../watch.ts';
import type { DataWorld } from '../world.ts';

/** A command. A check that is under way when something is published ends within that, and the next one is due. */
const UNDER_WAY_MS = 15;

/** Two commands, with their ways and the lateness of timers. */
const TWO_COMMANDS_MS = 40;

/** A backend that has not answered rests for half a minute at most. */
const RESTS_MS = 35_000;

/** All messages have arrived after that. */
const ARRIVED_MS = 20_000;

/** What a person has done for all instances, and the store has it. */
interface Known {
  readonly order: Order;
  readonly written: Written;
  readonly resolvedAt: number;
  /** The first read of each instance that must have led to a check which finds it. */
  readonly readAt: Map<DataInstance, number>;
}

/**
 * Rule 24: with `propagateWithin` an instance that is read, and can reach the store, serves nothing that is older than a
 * dropping mark, or than a value that was set or loaded for all, for longer than that time and two commands. Nothing that
 * is older than a mark is adopted again.
 *
 * While a change of a person is being published here, or a load without a lease is under way, its guard included, what checks
 * find counts from its end. What is set or accepted here only stays where a version of before is put back, or its pin ends.
 *
 * A version that is older than `maxStaleness` by now is not taken over where readers would not get it.
 *
 * A value is newer if it was published under a higher version, or if its load or its `set` began after the order.
 */
export class Marks implements DataWatch {
  readonly #world: DataWorld;
  /** When the load or the `set` of each value began. */
  readonly #begun: Map<number, number> = new Map();
  /** The last version under which each value was published. */
  readonly #versions: Map<number, number> = new Map();
  /** What was published for the sake of an order that has not resolved. */
  readonly #published: Map<Order, Written> = new Map();
  readonly #waiting: Set<Order> = new Set();
  /** All that are to be published, and have not settled. */
  readonly #underWay: Set<Order> = new Set();
  /** When the checks of an instance failed last, as it says. */
  readonly #failedAt: Map<DataInstance, number> = new Map();
  /** What the last rollback of an instance that has failed has left in place, and when it was asked for. */
  readonly #leftBy: Map<DataInstance, { readonly serial: number | undefined; readonly at: number }> =
    new Map();
  readonly #busyAt: Map<DataInstance, number> = new Map();
  /** Instances whose load without a lease has a result that the guard has not judged. */
  readonly #judging: Set<DataInstance> = new Set();
  #known: Known | undefined;
  /** The last version that a person has published: of two changes the one with the higher version counts. */
  #lastVersion = 0;
  #mark: Written | undefined;

  constructor(world: DataWorld) {
    this.#world = world;
  }

  began({ serial, begunAt }: DataRun): void {
    this.#begun.set(serial, begunAt);
  }

  /** A load without a lease, while the lock is unavailable, is in no order with what others do: its end counts. */
  returned({ serial, token, instance, signal }: DataRun): void {
    if (token !== undefined) return;
    this.#begun.set(serial, this.#world.timeline.now);
    if (this.#world.scenario.hasAccept && !signal.aborted) this.#judging.add(instance);
  }

  asked({ run: { instance } }: Question): void {
    this.#judging.delete(instance);
  }

  written(written: Written): void {
    const { serial, mark, version, run } = written;
    if (run === undefined) {
      this.#known = undefined; // until it is known for sure what a person has done
      this.#lastVersion = version;
    }
    if (mark === undefined) this.#versions.set(serial, version);
    else this.#mark = written;
    for (const order of this.#waiting) {
      const isOfSet = order.kind === 'set' && order.serial === serial;
      if (isOfSet || (order.kind === 'mark' && order.mark === mark)) this.#published.set(order, written);
    }
  }

  spoiled(): void {
    this.#known = this.#mark = undefined;
    this.#lastVersion = 0;
    this.#published.clear();
  }

  ordered(order: Order): void {
    const { kind, serial, at, unpins } = order;
    if (serial !== undefined) this.#begun.set(serial, at);
    if (kind !== 'refresh' || unpins) this.#underWay.add(order); // one that ends a pin publishes that first
    if (kind === 'set' || kind === 'mark') this.#waiting.add(order);
  }

  settled(order: Order): void {
    const { kind, instance, at, outcome = {} } = order;
    if (kind === 'rollback' && 'error' in outcome)
      this.#leftBy.set(instance, { serial: instance.prices.peek()?.serial, at });
    const written = this.#published.get(order);
    this.#underWay.delete(order);
    this.#waiting.delete(order);
    this.#published.delete(order);
    if (written === undefined || 'error' in (order.outcome ?? {}) || order.mark === 'invalidated') return;
    if (written.version < this.#lastVersion) return;
    this.#known = { order, written, resolvedAt: this.#world.timeline.now, readAt: new Map() };
  }

  read(instance: DataInstance): void {
    const { now } = this.#world.timeline;
    const known = this.#known;
    if (known === undefined || known.readAt.has(instance) || instance.held === undefined) return;
    const since = Math.max(known.resolvedAt, this.#busyAt.get(instance) ?? 0);
    if (now >= since + instance.withinMs + UNDER_WAY_MS) known.readAt.set(instance, now);
  }

  emitted(instance: DataInstance, event: TicklessEvent): void {
    if (event.type === 'changed' || (event.type.startsWith('load-') && event.type !== 'load-started'))
      this.#judging.delete(instance);
    const kept = event.type === 'load-kept' ? instance.prices.peek() : undefined;
    if (kept !== undefined) this.#begun.set(kept.serial, this.#world.timeline.now); // the source says the same again
    const mark = this.#mark;
    if (event.type !== 'snapshot-adopted' || mark === undefined) return;
    const since = this.#world.timeline.now - mark.at;
    // It may have been read before.
    if (since <= (this.#world.isWellFor(instance, since) ? UNDER_WAY_MS : ARRIVED_MS)) return;
    this.#holds(instance, event.version > mark.version, () => {
      return `it adopts version ${event.version}, older than the mark ${mark.version} of ${since.toFixed(0)} ms ago`;
    });
  }

  stepped(instance: DataInstance): void {
    const { now } = this.#world.timeline;
    const { held, status, closing } = instance;
    if (status?.checks?.failingSince !== undefined) this.#failedAt.set(instance, now);
    const known = this.#known;
    if (this.#isInNoOrder(instance)) this.#isBusy(instance);
    const readAt = known?.readAt.get(instance);
    if (known === undefined || readAt === undefined || now < readAt + TWO_COMMANDS_MS) return;
    if (held === undefined || closing !== 'no' || !this.#isWell(instance, now - known.resolvedAt)) return;
    if (this.#isRefused(instance)) return;
    const { order, written, resolvedAt } = known;
    if (this.#isTooOld(written, now)) return;
    const left = this.#leftBy.get(instance);
    const isNewer =
      (this.#versions.get(held.serial) ?? 0) >= written.version ||
      (this.#begun.get(held.serial) ?? 0) >= order.at - (instance.own.has(held.serial) ? UNDER_WAY_MS : 0) ||
      (left?.serial === held.serial && left.at >= order.at);
    this.#holds(instance, isNewer, () => {
      const what = written.mark ?? `set ${written.serial}`;
      const ago = (now - resolvedAt).toFixed(0);
      return `it serves ${held.serial}, though ${order.instance.name} has ${what} (${order.id}), version ${written.version}, ${ago} ms ago`;
    });
  }

  /** A value that no reader would get is not taken over. Its age counts from the `set`, however long that took to be published. */
  #isTooOld({ serial }: Written, now: number): boolean {
    const { maxStaleness } = this.#world.scenario;
    return now - (this.#begun.get(serial) ?? now) > maxStaleness;
  }

  /** What it has under way is in no order with the versions of others. */
  #isInNoOrder(instance: DataInstance): boolean {
    for (const order of this.#underWay) if (order.instance === instance) return true;
    for (const { token } of instance.running) if (token === undefined) return true;
    return this.#judging.has(instance);
  }

  /** No reader gets the value. A newer one that is too old too is not taken over. */
  #isRefused({ status }: DataInstance): boolean {
    return status?.state === 'too-stale';
  }

  #isBusy(instance: DataInstance): void {
    this.#busyAt.set(instance, this.#world.timeline.now);
    this.#known?.readAt.delete(instance);
  }

  /** It could reach the store since then, and does not rest after a failure. */
  #isWell(instance: DataInstance, ms: number): boolean {
    const { now } = this.#world.timeline;
    if (!this.#world.isWellFor(instance, ms)) return false;
    const hasFailed = now - (this.#failedAt.get(instance) ?? -Infinity) <= ms;
    return !hasFailed || this.#world.isWellFor(instance, ms + RESTS_MS);
  }

  #holds({ name }: DataInstance, condition: boolean, message: () => string): void {
    this.#world.referee.holds(24, condition, () => `${name}: ${message()}`);
  }
}
