import type { TicklessEvent } from '../index.ts';
import { shortId, shownKey } from './member-access.ts';
import { asItIs, type Redact, shownJson } from './redact.ts';
import { shownMessage } from './shown-texts.ts';

/** An event as operators see it: no value, no key longer than 200 characters. */
export interface ShownEvent {
  /** Grows by one with each event. */
  readonly number: number;
  /** The id of the member. */
  readonly id: string;
  readonly type: TicklessEvent['type'];
  /** Epoch milliseconds. */
  readonly at: number;
  readonly key?: string;
  /** Of `load-ended` and `round`. */
  readonly outcome?: string;
  /** Of `backend-down` and `backend-up`. */
  readonly backend?: string;
  /** Milliseconds, of `load-ended`. */
  readonly took?: number;
  readonly trigger?: string;
  readonly attempts?: number;
  readonly version?: number;
  readonly token?: number;
  /** Of events about another instance. */
  readonly host?: string;
  readonly error?: string;
}

/** How much of a message is kept until it is shown, in characters: more than is shown. */
const MOST_KEPT = 10_000;

const FIELDS = ['outcome', 'backend', 'took', 'trigger', 'attempts', 'version', 'token', 'host'] as const;

/** An event that was heard. It is made ready when it is shown: the turn in which it was emitted is that of a load. */
export class HeardEvent {
  readonly number: number;
  /** Of the member. */
  readonly name: string;
  readonly #fields: Pick<ShownEvent, 'type' | 'at' | (typeof FIELDS)[number]>;
  readonly #key: readonly [key?: unknown];
  readonly #message: string | undefined;
  readonly #redact: Redact;
  #shown: ShownEvent | undefined;
  #text: string | undefined;

  constructor(event: TicklessEvent, number: number, redact: Redact) {
    const { name, type, at, key, error } = event as TicklessEvent & Readonly<Record<string, unknown>>;
    const details = event as unknown as Readonly<Record<string, unknown>>;
    const given = FIELDS.filter((field) => details[field] !== undefined);
    this.number = number;
    this.#redact = redact;
    this.name = name;
    this.#fields = { type, at, ...Object.fromEntries(given.map((field) => [field, details[field]])) };
    this.#key = key === undefined ? [] : [key];
    this.#message = error instanceof Error ? String(error.message).slice(0, MOST_KEPT) : undefined;
  }

  get shown(): ShownEvent {
    this.#shown ??= {
      number: this.number,
      id: shortId(this.name, asItIs),
      ...this.#fields,
      ...(this.#key.length === 0 ? {} : { key: shownKey(this.#key[0], this.#redact).text }),
      ...(this.#message === undefined ? {} : { error: shownMessage(this.#message, this.#redact) }),
    };
    return this.#shown;
  }

  /** As JSON. */
  get text(): string {
    const { id, key = '', error = '' } = this.shown;
    this.#text ??= shownJson(this.shown, this.#redact, new Set([id, key, error]));
    return this.#text;
  }
}
