import { Refusal } from './refusals.ts';

/** At most as many of one operator: one under way, and the others that wait. */
const MOST_OF_ONE = 4;

/** An operator has too much under way. Nothing was done. */
export class TooMany extends Refusal {}

/** Work that takes a while, one after the other: operators together keep one piece of it busy, and none of them the others. */
export class TurnsOfOperators {
  readonly #counts: Map<string, number> = new Map();
  #last: Promise<unknown> = Promise.resolve();

  /** Rejects with {@link TooMany}, or as the work does. @param by the id of the operator. */
  run<T>(by: string, work: () => Promise<T>): Promise<T> {
    const count = this.#counts.get(by) ?? 0;
    if (count >= MOST_OF_ONE) return Promise.reject(new TooMany('too many requests of yours are under way'));
    this.#counts.set(by, count + 1);
    const done = this.#last.then(work).finally(() => this.#ended(by));
    this.#last = done.catch(() => {});
    return done;
  }

  #ended(by: string): void {
    const count = this.#counts.get(by) ?? 0;
    if (count > 1) this.#counts.set(by, count - 1);
    else this.#counts.delete(by);
  }
}
