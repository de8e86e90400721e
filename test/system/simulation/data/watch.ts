import type { TicklessEvent, ValueStatus } from '../../../../src/index.ts';
import type { Effect } from '../../../support/record-effects.ts';
import type { Machine } from '../machine.ts';
import type { Message, StepAnswer } from '../message.ts';
import type { Edition, Mark, Quality } from './edition.ts';
import type { DataInstance } from './instance.ts';
import type { Written } from './shelf.ts';

/** What has a value on one instance: the instance itself, or one of its keys. */
export interface Holder {
  readonly name: string;
  readonly machine: Machine;
  readonly running: { add(run: DataRun<Holder>): unknown; delete(run: DataRun<Holder>): unknown };
  /** The values that people have put into place here. */
  readonly own: ReadonlySet<number>;
  /** The value after the present step. */
  readonly held: Edition | undefined;
  /** The status after the present step. */
  readonly status: ValueStatus<Edition> | undefined;
  /** The value as it is. */
  peek(): Edition | undefined;
}

/** One call of a load. */
export interface DataRun<H = DataInstance> {
  /** That of its value. */
  readonly serial: number;
  readonly instance: H;
  readonly trigger: string;
  readonly attempt: number;
  readonly token: number | undefined;
  readonly signal: AbortSignal;
  readonly quality: Quality;
  /** The value that its result would replace. */
  readonly previous: Edition | undefined;
  readonly begunAt: number;
}

/** A guard is asked about the result of a load. */
export interface Question<H = DataInstance> {
  readonly run: DataRun<H>;
  readonly candidate: Edition;
  readonly previous: Edition | undefined;
  readonly isAccepted: boolean;
}

/** What a person does. */
export interface Order<H = DataInstance> {
  readonly kind: 'rollback' | 'unpin' | 'refresh' | 'set' | 'set here' | 'drop' | 'mark';
  readonly id: number;
  readonly instance: H;
  readonly at: number;
  /** The value that it puts into place, if that is known. */
  readonly serial?: number | undefined;
  /** Of a rollback: the version. */
  readonly to?: number | undefined;
  /** Of a rollback. */
  readonly holdMs?: number;
  /** Of a mark on all instances. */
  readonly mark?: Mark | undefined;
  /** Of a refresh: it is for all instances. */
  readonly everywhere?: true;
  /** Of a refresh: it lets pass the refused value that was looked at. */
  readonly forces?: true;
  /** Of a refresh: it ends the pin. */
  readonly unpins?: boolean;
  outcome: { readonly value: unknown } | { readonly error: unknown } | undefined;
}

/** Checks one or two rules of the data for a whole cluster. */
export interface DataWatch<H = DataInstance> {
  began?(run: DataRun<H>): void;
  /** The source has returned a value. */
  returned?(run: DataRun<H>, value: Edition): void;
  asked?(question: Question<H>): void;
  emitted?(instance: H, event: TicklessEvent): void;
  sent?(instance: H, message: Message): void;
  /** A swap has done what the step asked for. */
  arrived?(instance: H, message: Message, effect: Effect): void;
  /** The step has its answer. */
  answered?(instance: H, message: Message, answer: StepAnswer | undefined): void;
  /** A newer version is in the store. */
  written?(version: Written): void;
  /** The backend has lost or damaged its data. */
  spoiled?(): void;
  ordered?(order: Order<H>): void;
  /** The call of an order has returned, and its promise has not settled yet. */
  called?(order: Order<H>): void;
  settled?(order: Order<H>): void;
  /** A signal of another instance has arrived. */
  signalled?(instance: H, text: string): void;
  /** A reader asks for the value. */
  read?(instance: H): void;
  /** A reader gets a value. */
  served?(instance: H, value: Edition): void;
  /** An event has run in the instance, with all its immediate consequences. */
  stepped?(instance: H): void;
}
