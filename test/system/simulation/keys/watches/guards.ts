import type { TicklessEvent } from '../../../../../src/index.ts';
import type { Effect } from '../../../../support/record-effects.ts';
import type { Edition } from '../../data/edition.ts';
import type { DataRun, Question } from '../../data/watch.ts';
import type { BadLoads } from '../../data/watches/bad-loads.ts';
import type { Refusals } from '../../data/watches/refusals.ts';
import type { Message, StepAnswer } from '../../message.ts';
import type { HeldKey } from '../held-key.ts';
import type { KeysInstance } from '../instance.ts';
import { NAME } from '../scenario.ts';
import type { KeyOrder, KeysWatch } from '../watch.ts';

/** Rule 23, and one load in a cool-down while the source is bad: as for values, for each key. */
export class Guards implements KeysWatch {
  readonly #refusals: Refusals;
  readonly #badLoads: ReadonlyMap<string, BadLoads>;

  constructor(refusals: Refusals, badLoads: ReadonlyMap<string, BadLoads>) {
    this.#refusals = refusals;
    this.#badLoads = badLoads;
  }

  began(run: DataRun<HeldKey>): void {
    this.#of(run.instance).began(run);
  }

  returned(run: DataRun<HeldKey>, value: Edition): void {
    this.#refusals.returned(run, value);
  }

  asked(question: Question<HeldKey>): void {
    this.#refusals.asked(question);
  }

  emitted(key: HeldKey, event: TicklessEvent): void {
    this.#of(key).emitted(key, event);
  }

  sent(instance: KeysInstance, message: Message): void {
    if (message.name !== NAME) this.#refusals.sent(instance, message); // not the invalidation log
    for (const watch of this.#badLoads.values()) watch.sent(instance, message);
  }

  arrived(instance: KeysInstance, message: Message, effect: Effect): void {
    for (const watch of this.#badLoads.values()) watch.arrived(instance, message, effect);
  }

  answered(instance: KeysInstance, message: Message, answer: StepAnswer | undefined): void {
    for (const watch of this.#badLoads.values()) watch.answered(instance, message, answer);
  }

  ordered(order: KeyOrder): void {
    this.#refusals.ordered(order);
    this.#of(order.instance).ordered(order);
  }

  settled(order: KeyOrder): void {
    this.#of(order.instance).settled(order);
  }

  served(key: HeldKey, value: Edition): void {
    this.#refusals.served(key, value);
  }

  stepped(key: HeldKey): void {
    this.#refusals.stepped(key);
  }

  #of({ key }: HeldKey): BadLoads {
    return this.#badLoads.get(key) as BadLoads;
  }
}
