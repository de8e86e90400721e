import { isTicklessError, type TicklessEvent } from '../../../../../src/index.ts';
import { wordOf } from '../../../../support/events.ts';
import { type Edition, isPlausible } from '../edition.ts';
import type { DataInstance } from '../instance.ts';
import type { DataRun, DataWatch, Order, Question } from '../watch.ts';
import type { DataWorld } from '../world.ts';

/** `unkept`: the schema refuses it, so nobody can accept it. */
type Refused = number | 'unkept';

/**
 * Quarantine: the last refused value is kept until people decide, or a newer value of any kind is in place. What was
 * discarded, or is obsolete, never comes back.
 */
export class Quarantines implements DataWatch {
  readonly #world: DataWorld;
  readonly #kept: Map<DataInstance, Refused> = new Map();
  /** A value whose acceptance could not be published is in place, and in quarantine to be tried again. */
  readonly #unpublished: Map<DataInstance, Edition | undefined> = new Map();
  readonly #held: Map<DataInstance, Edition | undefined> = new Map();
  /** The orders under way that may put a version back into place, and those that have ended in this step. */
  readonly #puttingBack: Set<Order> = new Set();
  readonly #ended: Set<Order> = new Set();
  /** What was kept when an order was given. */
  readonly #before: Map<Order, Refused | undefined> = new Map();

  constructor(world: DataWorld) {
    this.#world = world;
  }

  returned({ instance, signal }: DataRun, value: Edition): void {
    if (this.#world.scenario.hasSchema && !isPlausible(value) && !signal.aborted)
      this.#kept.set(instance, 'unkept');
  }

  asked({ run, candidate, isAccepted }: Question): void {
    if (!isAccepted && !run.signal.aborted) this.#kept.set(run.instance, candidate.serial);
  }

  /** A version that is put back is in place before it is published, which is when its event comes. */
  emitted(instance: DataInstance, event: TicklessEvent): void {
    const isReplaced = event.type === 'changed' && event.cause !== 'rolled-back';
    if (isReplaced || wordOf(event) === 'kept') this.#kept.delete(instance);
  }

  ordered(order: Order): void {
    if (order.kind === 'rollback' || order.kind === 'unpin' || order.unpins) this.#puttingBack.add(order);
    if (order.kind === 'accept' || order.kind === 'discard')
      this.#before.set(order, this.#kept.get(order.instance));
    if (order.kind === 'discard') this.#kept.delete(order.instance);
  }

  called(order: Order): void {
    const { kind, instance } = order;
    const kept = this.#before.get(order);
    if (kind !== 'accept' || typeof kept !== 'number') return;
    const served = instance.prices.peek()?.serial;
    this.#holds(
      instance,
      served === kept || instance.closing !== 'no',
      `${kept} is accepted, and ${served} is served`,
    );
  }

  settled(order: Order): void {
    const { kind, instance, outcome = { value: undefined } } = order;
    this.#ended.add(order); // it may have put one back in this very step
    if (kind !== 'accept' && kind !== 'discard') return;
    const kept = this.#before.get(order);
    this.#before.delete(order);
    const { value, error } = { value: undefined, error: undefined, ...outcome };
    if (kind === 'discard')
      this.#holds(instance, value === (kept !== undefined), `discarding ${kept} gives ${value}`);
    else if (kept === undefined)
      this.#holds(instance, value === false, `there is nothing to accept, which gives ${value ?? error}`);
    else if (kept === 'unkept')
      this.#holds(
        instance,
        isTicklessError(error, 'REFUSED'),
        `a value that is not kept is accepted: ${value ?? error}`,
      );
    else if (error !== undefined && instance.prices.peek()?.serial === kept && !this.#kept.has(instance)) {
      this.#kept.set(instance, kept);
      this.#unpublished.set(instance, instance.prices.peek());
    }
  }

  stepped(instance: DataInstance): void {
    const { quarantine } = instance.status ?? {};
    const { held } = instance;
    const wasHeld = this.#held.get(instance);
    this.#held.set(instance, held);
    const isPutBack = [...this.#puttingBack].some((order) => order.instance === instance);
    const isUnpublished = held === this.#unpublished.get(instance);
    if (isPutBack && held !== undefined && held !== wasHeld && !isUnpublished) this.#kept.delete(instance);
    for (const order of this.#ended) {
      if (order.instance !== instance) continue;
      this.#puttingBack.delete(order);
      this.#ended.delete(order);
    }
    const kept = this.#kept.get(instance);
    this.#holds(
      instance,
      (quarantine !== undefined) === (kept !== undefined),
      `${kept} is in quarantine, and the status says: ${quarantine?.reason}`,
    );
  }

  #holds({ name }: DataInstance, condition: boolean, message: string): void {
    this.#world.referee.holds('quarantine', condition, () => `${name}: ${message}`);
  }
}
