import { isTicklessError, type TicklessEvent } from '../../../../../src/index.ts';
import type { Edition } from '../edition.ts';
import type { DataInstance } from '../instance.ts';
import { noteOf } from '../persons.ts';
import type { Written } from '../shelf.ts';
import type { DataWatch, Order } from '../watch.ts';
import type { DataWorld } from '../world.ts';

/** The error of fast or slow clocks over the length of a hold. */
const DRIFT = 3e-4;

/** An instance that knows of a pin asks once a minute; a backend that did not answer rests for half a minute. */
const FOLLOWS_MS = 60_000 + 35_000;

/** The pin of the version in the store. */
interface Pin {
  readonly written: Written;
  readonly order: Order;
  readonly until: number;
  /** When `rollback` has resolved. */
  resolvedAt: number;
}

/**
 * Rule 25: once `rollback` has resolved, only people replace the pinned version in the store, until its hold is over: no
 * load does, whatever has started it, on whichever instance. An instance that knows of the pin replaces the version by no
 * load either, and refuses `refresh()`; one that does not know of it follows within a minute in which it reaches the backend.
 *
 * By docs/data.md ("Its limits") these are no violations:
 *
 * - the backend has lost or damaged its data since: nothing is pinned any longer, or it can't be read;
 * - a rollback that has rejected, though its version may be in the store;
 * - a `refresh()` on an instance that publishes the end of the pin: its load begins after that;
 * - a `refresh()` whose place a person's value has taken there, by `set` or `rollback`: it gives that value, and loads nothing;
 *   where that value is not published in time, it rejects with `TIMED_OUT`, and has loaded nothing;
 * - a value that was set, or accepted, here only: it is served here while the pin lasts;
 * - an instance that does not know of the pin, and reaches neither lock nor store: it loads for itself, and does not publish;
 * - a rollback that fails on an instance which cannot read the store then: what was put into place gives way to a load;
 * - `invalidate({ drop: true })` on an instance that cannot read the store then.
 */
export class Pins implements DataWatch {
  readonly #world: DataWorld;
  readonly #rollbacks: Map<number, Order> = new Map();
  /** The orders under way that end the pin. */
  readonly #unpinning: Set<Order> = new Set();
  /** The orders under way that put a value of a person into place. */
  readonly #placing: Set<Order> = new Set();
  #last: Pin | undefined;
  /** The pin that each instance knows of. */
  readonly #known: Map<DataInstance, Pin> = new Map();
  /** The pin at the time of an order, and whether its instance knew of it. */
  readonly #before: Map<Order, { readonly pin: Pin; readonly isKnown: boolean }> = new Map();

  constructor(world: DataWorld) {
    this.#world = world;
  }

  written(written: Written): void {
    const { run, version, mark } = written;
    const pin = this.#pin;
    this.#holds(
      pin === undefined || mark === undefined || this.#unpinning.size > 0,
      () => `a mark replaces ${pinned(pin)}`,
    );
    this.#holds(pin === undefined || run === undefined, () => {
      return `load ${run?.serial} (${run?.trigger}) of ${run?.instance.name} replaces ${pinned(pin)} by version ${version}`;
    });
    const order = written.order === undefined ? undefined : this.#rollbacks.get(written.order);
    const until = (order?.at ?? 0) + (order?.holdMs ?? 0) * (1 - DRIFT) - 10;
    this.#last = order && { written, order, until, resolvedAt: Infinity };
  }

  spoiled(): void {
    this.#last = undefined;
    this.#known.clear();
  }

  ordered(order: Order): void {
    const { kind, id, instance, mark } = order;
    if (kind === 'unpin' || order.unpins) this.#unpinning.add(order);
    if (kind === 'rollback') this.#rollbacks.set(id, order);
    if (kind === 'rollback' || kind === 'set') this.#placing.add(order);
    const pin = this.#pin;
    if (pin !== undefined) this.#before.set(order, { pin, isKnown: this.#known.get(instance) === pin });
    if (kind === 'drop' || mark === 'dropped' || this.#unpinning.has(order)) this.#known.delete(instance);
    if (kind === 'rollback' || kind === 'unpin') instance.troubledAt = this.#world.timeline.now;
  }

  settled(order: Order): void {
    const { kind, outcome = { value: undefined }, instance, id, unpins } = order;
    this.#unpinning.delete(order);
    this.#placing.delete(order);
    const { value, error } = { value: undefined, error: undefined, ...outcome };
    // One that fails gives way to the version in the store at the next read.
    if (kind === 'rollback' || kind === 'unpin') instance.troubledAt = this.#world.timeline.now;
    if (kind === 'rollback' && error === undefined && this.#last?.order === order) {
      this.#last.resolvedAt = this.#world.timeline.now;
    }
    const before = this.#before.get(order);
    this.#before.delete(order);
    if (before === undefined || before.pin !== this.#pin) return;
    const about = `${instance.name}: ${kind} (${id})`;
    if (kind === 'refresh' && before.isKnown && !unpins) {
      this.#holds(
        isTicklessError(error, 'PINNED') ||
          isTicklessError(error, 'CLOSED') ||
          (order.forces === true && isTicklessError(error, 'REFUSED')) ||
          (isTicklessError(error, 'TIMED_OUT') && error.attempts === 0 && this.#isPlacing(instance)) ||
          (error === undefined && this.#isOfPerson(order, value, before.pin)),
        () => `${about} gives ${error ?? 'a value'}, though ${pinned(before.pin)} is pinned`,
      );
    }
    if (kind === 'unpin')
      this.#holds(error !== undefined, () => `${about} gives ${value}, and ${pinned(before.pin)} is pinned`);
  }

  /** A value of a person is being published there. */
  #isPlacing(instance: DataInstance): boolean {
    return [...this.#placing].some((order) => order.instance === instance);
  }

  /** Neither a load nor the pin has given that value: a person has, who was faster. */
  #isOfPerson(order: Order, value: unknown, { written }: Pin): boolean {
    const isPinned = (value as Edition).serial === written.serial && !this.#isPlacing(order.instance);
    return !isPinned && !this.#isLoaded(order, value);
  }

  /** It is the value of a load that began on that instance since the order. */
  #isLoaded({ instance, at }: Order, value: unknown): boolean {
    const run = this.#world.runs.get((value as Edition).serial);
    return run !== undefined && run.instance === instance && run.begunAt >= at;
  }

  emitted(instance: DataInstance, event: TicklessEvent): void {
    if (event.type !== 'changed') return;
    if (event.cause === 'rolled-back') this.#known.delete(instance); // it is known again when that is published
    if (event.cause !== 'loaded') return;
    const known = this.#known.get(instance);
    this.#holds(
      known === undefined || known !== this.#pin,
      () => `${instance.name}: a load replaces ${pinned(known)}, of which it knows`,
    );
  }

  stepped(instance: DataInstance): void {
    const pin = this.#pin;
    if (pin === undefined) return;
    const { status, held, closing, name } = instance;
    if (status?.pinned?.note === noteOf(pin.order) && held?.serial === pin.written.serial)
      this.#known.set(instance, pin);
    const { now } = this.#world.timeline;
    const isDue = now - pin.resolvedAt > FOLLOWS_MS && this.#world.isWellFor(instance, FOLLOWS_MS);
    if (!isDue || closing !== 'no' || instance.servesOwn) return;
    this.#holds(
      held?.serial === pin.written.serial,
      () =>
        `${name}: it serves ${held?.serial}, and ${pinned(pin)} is in force since ${(now - pin.resolvedAt).toFixed(0)} ms`,
    );
  }

  /** The one that is in force. */
  get #pin(): Pin | undefined {
    const { now } = this.#world.timeline;
    return this.#last !== undefined && this.#last.resolvedAt <= now && now < this.#last.until
      ? this.#last
      : undefined;
  }

  #holds(condition: boolean, message: () => string): void {
    this.#world.referee.holds(25, condition, message);
  }
}

function pinned(pin: Pin | undefined): string {
  return `${pin?.written.serial}, the version ${pin?.written.version} of ${pin?.order.instance.name}`;
}
