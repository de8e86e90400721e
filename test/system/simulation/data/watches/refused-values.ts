import type { EventOf, TicklessEvent } from '../../../../../src/index.ts';
import { type Edition, isPlausible } from '../edition.ts';
import type { DataInstance } from '../instance.ts';
import type { DataRun, DataWatch, Order, Question } from '../watch.ts';
import type { DataWorld } from '../world.ts';

/**
 * The status tells the last refused value until a load has succeeded, also where its value is dropped, or a newer value of any kind is in place.
 * A load that is forced lets pass nothing but what was looked at: here no two editions are the same.
 */
export class RefusedValues implements DataWatch {
  readonly #world: DataWorld;
  readonly #refusing: Set<DataInstance> = new Set();
  readonly #held: Map<DataInstance, Edition | undefined> = new Map();
  /** The orders under way that may put a version back into place, and those that have ended in this step. */
  readonly #puttingBack: Set<Order> = new Set();
  readonly #ended: Set<Order> = new Set();

  constructor(world: DataWorld) {
    this.#world = world;
  }

  /** Its load may end in another way: its lease is lost. */
  returned({ instance, signal }: DataRun, value: Edition): void {
    if (this.#world.scenario.hasSchema && !isPlausible(value) && !signal.aborted)
      this.#refusing.add(instance);
  }

  asked({ run, isAccepted }: Question): void {
    if (!isAccepted && !run.signal.aborted) this.#refusing.add(run.instance);
  }

  /** A version that is put back is in place before it is published, which is when its event comes. */
  emitted(instance: DataInstance, event: TicklessEvent): void {
    if (event.type === 'load-ended') this.#loadEnded(instance, event);
    if (event.type === 'changed' && event.cause !== 'rolled-back') this.#refusing.delete(instance);
  }

  /** A snapshot that is refused, without a load, is another thing. */
  #loadEnded(instance: DataInstance, { outcome, attempts }: EventOf<'load-ended'>): void {
    if (outcome === 'refused' && attempts > 0) this.#refusing.add(instance);
    if (outcome === 'loaded' || outcome === 'kept' || outcome === 'adopted') this.#refusing.delete(instance);
  }

  ordered(order: Order): void {
    if (order.kind === 'rollback' || order.kind === 'unpin' || order.unpins) this.#puttingBack.add(order);
  }

  settled(order: Order): void {
    this.#ended.add(order); // it may have put one back in this very step
    const { instance, forces, outcome = { error: undefined } } = order;
    this.#holds(instance, !forces || 'error' in outcome, 'what was not looked at passes the guard');
  }

  stepped(instance: DataInstance): void {
    const { refused } = instance.status ?? {};
    const { held } = instance;
    const wasHeld = this.#held.get(instance);
    this.#held.set(instance, held);
    const isPutBack = [...this.#puttingBack].some((order) => order.instance === instance);
    if (isPutBack && held !== undefined && held !== wasHeld) this.#refusing.delete(instance);
    for (const order of this.#ended) {
      if (order.instance !== instance) continue;
      this.#puttingBack.delete(order);
      this.#ended.delete(order);
    }
    const isRefusing = this.#refusing.has(instance);
    const message = `it ${isRefusing ? 'refuses a value' : 'has refused none'}, and the status says: ${refused?.reason}`;
    this.#holds(instance, (refused !== undefined) === isRefusing, message);
  }

  #holds({ name }: DataInstance, condition: boolean, message: string): void {
    this.#world.referee.holds('refused', condition, () => `${name}: ${message}`);
  }
}
