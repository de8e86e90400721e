import type { Message } from '../../message.ts';
import type { Referee } from '../../referee.ts';
import { type Edition, isAcceptable, isPlausible, markIn, serialIn } from '../edition.ts';
import type { DataRun, DataWatch, Holder, Order, Question } from '../watch.ts';

/** The world of the values. */
interface Judged {
  readonly referee: Referee;
  readonly scenario: { readonly hasAccept: boolean; readonly hasSchema: boolean };
}

/**
 * Rule 23: what a guard or the schema refuses is not served, published or adopted. A value
 * is fit when each of them was asked and has taken it, and the output of the schema is the value.
 */
export class Refusals implements DataWatch<Holder> {
  readonly #world: Judged;
  readonly #fit: Set<number> = new Set();

  constructor(world: Judged) {
    this.#world = world;
  }

  returned({ serial }: DataRun<Holder>, value: Edition): void {
    const { hasAccept } = this.#world.scenario;
    if (!hasAccept && isPlausible(value)) this.#fit.add(serial);
  }

  asked({ candidate, previous, isAccepted }: Question<Holder>): void {
    const { serial } = candidate;
    const isFit = isPlausible(candidate) && isAcceptable(candidate, previous);
    this.#holds(
      isAccepted === isFit,
      () => `a guard answers ${isAccepted} to ${serial} after ${previous?.serial}`,
    );
    if (isFit) this.#fit.add(serial);
  }

  ordered({ kind, serial }: Order<Holder>): void {
    if ((kind === 'set' || kind === 'set here') && serial !== undefined) this.#fit.add(serial);
  }

  served({ name }: Holder, value: Edition): void {
    this.#isFit(name, 'a reader gets', value);
  }

  stepped({ name, held }: Holder): void {
    if (held !== undefined) this.#isFit(name, 'it has', held);
  }

  sent({ name }: Pick<Holder, 'name'>, { step, payload = '' }: Message): void {
    if (step !== 'write' || markIn(payload) !== undefined) return;
    const serial = serialIn(payload);
    this.#holds(this.#fit.has(serial), () => `${name}: ${serial} is published, which was refused`);
  }

  #isFit(name: string, what: string, { serial, isChecked }: Edition): void {
    this.#holds(this.#fit.has(serial), () => `${name}: ${what} ${serial}, which was refused`);
    const { hasSchema } = this.#world.scenario;
    this.#holds(
      (isChecked === true) === hasSchema,
      () => `${name}: ${what} ${serial}, which is not the output of the schema`,
    );
  }

  #holds(condition: boolean, message: () => string): void {
    this.#world.referee.holds(23, condition, message);
  }
}
