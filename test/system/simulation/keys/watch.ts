import type { TicklessEvent } from '../../../../src/index.ts';
import type { Effect } from '../../../support/record-effects.ts';
import type { Edition } from '../data/edition.ts';
import type { DataRun, Order, Question } from '../data/watch.ts';
import type { Message, StepAnswer } from '../message.ts';
import type { HeldKey } from './held-key.ts';
import type { KeysInstance } from './instance.ts';

/** What a person does with a key, the keys with a tag, or all keys. */
export interface KeyOrder extends Order<HeldKey> {
  /** Of a tag, and of all keys, `instance` is any key of the process where it is done. */
  readonly of: 'key' | 'tag' | 'all';
}

/** Checks one or two rules of keys for a whole cluster. */
export interface KeysWatch {
  began?(run: DataRun<HeldKey>): void;
  returned?(run: DataRun<HeldKey>, value: Edition): void;
  asked?(question: Question<HeldKey>): void;
  emitted?(key: HeldKey, event: TicklessEvent): void;
  sent?(instance: KeysInstance, message: Message): void;
  /** A swap has done what the step asked for. */
  arrived?(instance: KeysInstance, message: Message, effect: Effect): void;
  /** The step has its answer. */
  answered?(instance: KeysInstance, message: Message, answer: StepAnswer | undefined): void;
  /** The backend has lost or damaged its data. */
  spoiled?(): void;
  ordered?(order: KeyOrder): void;
  settled?(order: KeyOrder): void;
  /** A reader asks for a key. */
  read?(instance: KeysInstance): void;
  served?(key: HeldKey, value: Edition): void;
  /** An event has run in the instance, with all its immediate consequences. */
  stepped?(key: HeldKey): void;
}
