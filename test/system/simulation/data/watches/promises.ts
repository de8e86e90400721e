import { isTicklessError } from '../../../../../src/index.ts';
import type { DataWatch, Order } from '../watch.ts';
import type { DataWorld } from '../world.ts';

/** What resolves for all instances is in the store, and what rejects has one of the documented reasons. */
export class Promises implements DataWatch {
  readonly #world: DataWorld;

  constructor(world: DataWorld) {
    this.#world = world;
  }

  settled(order: Order): void {
    const { kind, outcome = { value: undefined }, to, id } = order;
    if ('error' in outcome) {
      this.#isReason(order, outcome.error);
      return;
    }
    const { shelf } = this.#world;
    const { value } = outcome;
    if (kind === 'set') this.#isThere(order, order.serial);
    if (kind !== 'rollback') return;
    const written = shelf.ofOrder(id);
    // A later one may have come by the time that it resolves.
    const isIts = written !== undefined && written.version <= (value as number);
    this.#holds(order, isIts, `version ${written?.version} is of it, not ${value}`);
    const wanted = to === undefined ? undefined : shelf.of(to)?.serial;
    const isRight = wanted === undefined || wanted === written?.serial;
    this.#holds(order, isRight, `${written?.serial} is put into place, not ${wanted}`);
  }

  #isThere(order: Order, serial: number | undefined): void {
    const isThere = serial !== undefined && this.#world.shelf.published.has(serial);
    this.#holds(order, isThere, `${serial} is not in the store`);
  }

  #isReason(order: Order, error: unknown): void {
    const { kind, instance } = order;
    if (kind === 'refresh') return; // the error of a load, or a pin: see there
    const isOfBackend = isTicklessError(error, 'BACKEND_DOWN');
    // There may be no version that can be put back by now.
    const isOfVersion = kind === 'rollback' && isTicklessError(error, 'OPTION');
    const isOfPin = kind === 'mark' && isTicklessError(error, 'PINNED');
    const isReason =
      isOfBackend ||
      isOfVersion ||
      isOfPin ||
      (isTicklessError(error, 'CLOSED') && instance.closing !== 'no');
    this.#holds(order, isReason, `it fails with ${error}`);
  }

  #holds({ kind, id, instance }: Order, condition: boolean, message: string): void {
    this.#world.referee.holds('everywhere', condition, () => `${instance.name}: ${kind} (${id}): ${message}`);
  }
}
