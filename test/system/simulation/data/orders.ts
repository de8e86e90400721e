import type { Trace } from '../trace.ts';
import { errorText } from '../words.ts';

/** What a person does, and what became of it. */
interface Given {
  readonly id: number;
  readonly kind: string;
  readonly instance: { readonly name: string };
  outcome: { readonly value: unknown } | { readonly error: unknown } | undefined;
}

/** The world of orders, as far as they need it. */
interface Surroundings<O> {
  readonly trace: Trace;
  readonly watches: readonly {
    ordered?(order: O): void;
    called?(order: O): void;
    settled?(order: O): void;
  }[];
}

/** Gives orders to instances, and reports them to the watches. */
export class Orders<O extends Given> {
  readonly #world: Surroundings<O>;

  constructor(world: Surroundings<O>) {
    this.#world = world;
  }

  /** @returns what waits for its end. */
  give(order: O, words: string, ask: () => Promise<unknown>): Promise<void> {
    const { trace, watches } = this.#world;
    const { instance, id, kind } = order;
    trace.add(instance.name, () => `${words} (${id})`);
    for (const watch of watches) watch.ordered?.(order);
    const promise = ask();
    for (const watch of watches) watch.called?.(order);
    const settle = (outcome: NonNullable<O['outcome']>): void => {
      order.outcome = outcome;
      trace.add(instance.name, () => {
        const { value, error } = { value: undefined, error: undefined, ...outcome };
        return `${kind} (${id}) ${error === undefined ? `gives ${JSON.stringify(value)}` : `fails: ${errorText(error)}`}`;
      });
      for (const watch of watches) watch.settled?.(order);
    };
    return promise.then(
      (value) => settle({ value }),
      (error) => settle({ error }),
    );
  }
}

/** A call that waits is counted until it has settled. */
export async function counted(caller: { waiting: number }, end: Promise<unknown>): Promise<void> {
  caller.waiting += 1;
  await end;
  caller.waiting -= 1;
}
