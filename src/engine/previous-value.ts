import type { ValueMeta } from '../data/value-meta.ts';

/** A value in place that knows its age and its limit. */
export interface Outlivable {
  /** When it is as old as its limit, in milliseconds from now; 0 or less: it is, and an older edition is better than none. */
  readonly outlivedInMs: number;
}

/** The value in place, or a part of it, as a load or a source sees it. */
export class PreviousValue {
  readonly value: unknown;
  /** Epoch milliseconds. */
  readonly loadedAt: number;
  declare readonly meta?: ValueMeta | undefined;
  /** Not a property: code that prints, compares or clones it does not see the engine. */
  readonly #whole: unknown;

  /** @param whole its load, or the value that it is a part of. */
  constructor(value: unknown, loadedAt: number, meta: ValueMeta | undefined, whole: unknown) {
    this.value = value;
    this.loadedAt = loadedAt;
    if (meta !== undefined) this.meta = meta;
    this.#whole = whole;
  }

  /** As {@link Outlivable}, also of a part; `Infinity` of what no engine has made. */
  static outlivedInMs(previous: object): number {
    let whole: unknown = previous;
    while (isPart(whole)) whole = whole.#whole;
    const { outlivedInMs } = whole as Partial<Outlivable>;
    return outlivedInMs ?? Infinity;

    function isPart(thing: unknown): thing is PreviousValue {
      return typeof thing === 'object' && thing !== null && #whole in thing;
    }
  }
}
