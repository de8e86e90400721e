import type { TicklessEvent } from '../../../../src/index.ts';
import type { Message } from '../network.ts';
import type { Edition, Mark, Quality } from './edition.ts';
import type { DataInstance } from './instance.ts';
import type { Written } from './shelf.ts';

/** One call of a load. */
export interface DataRun {
  /** That of its value. */
  readonly serial: number;
  readonly instance: DataInstance;
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
export interface Question {
  readonly run: DataRun;
  readonly candidate: Edition;
  readonly previous: Edition | undefined;
  readonly isAccepted: boolean;
}

/** What a person does. */
export interface Order {
  readonly kind:
    | 'rollback'
    | 'unpin'
    | 'refresh'
    | 'set'
    | 'set here'
    | 'drop'
    | 'accept'
    | 'discard'
    | 'mark';
  readonly id: number;
  readonly instance: DataInstance;
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
  /** Of a refresh: it ends the pin. */
  readonly unpins?: boolean;
  outcome: { readonly value: unknown } | { readonly error: unknown } | undefined;
}

/** Checks one or two rules of the data for a whole cluster. */
export interface DataWatch {
  began?(run: DataRun): void;
  /** The source has returned a value. */
  returned?(run: DataRun, value: Edition): void;
  asked?(question: Question): void;
  emitted?(instance: DataInstance, event: TicklessEvent): void;
  sent?(instance: DataInstance, message: Message): void;
  arrived?(instance: DataInstance, message: Message, answer: unknown): void;
  /** A newer version is in the store. */
  written?(version: Written): void;
  /** The backend has lost or damaged its data. */
  spoiled?(): void;
  ordered?(order: Order): void;
  /** The call of an order has returned, and its promise has not settled yet. */
  called?(order: Order): void;
  settled?(order: Order): void;
  /** A reader asks for the value. */
  read?(instance: DataInstance): void;
  /** A reader gets a value. */
  served?(instance: DataInstance, value: Edition): void;
  /** An event has run in the instance, with all its immediate consequences. */
  stepped?(instance: DataInstance): void;
}
