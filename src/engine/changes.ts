import type { ChangeCause, EventOf } from '../observe/events.ts';
import type { Events } from '../observe/member-events.ts';
import { type Entry, keyOf } from './entry.ts';
import type { ResolvedOptions } from './resolved-options.ts';

/** A replacement of a value, or the eviction of one, of which listeners do not know yet. */
interface Change {
  readonly type: 'changed' | 'evicted';
  details: Pick<EventOf<'changed'>, 'version' | 'cause' | 'key'> | Pick<EventOf<'evicted'>, 'key'>;
  /** Not enumerable: a log of events must not contain the values all at once. */
  readonly values: PropertyDescriptorMap;
  /** The length of the chain of listeners that led to it: each has replaced a value in answer to a change. */
  readonly depth: number;
}

/** A listener that answers each change by a change would never return. */
const LONGEST_CHAIN = 100;

/** Nor would two such listeners: their answers to answers, counted in one delivery, double with each step. */
const MOST_ANSWERS = 10_000;

/**
 * Reports each replacement of a value once, and each eviction, in their order. They are noted as they are made, and
 * delivered when all of the entry is in place: a listener that replaces a value again adds to the end of the line.
 */
export class Changes {
  readonly #options: Pick<ResolvedOptions, 'kind' | 'logger'>;
  readonly #events: Events;
  readonly #line: Change[] = [];
  /** How many of them listeners have heard of. */
  #delivered = 0;
  /** Its version is being published: listeners do not hear of it yet, nor of those behind it. */
  #unpublished: Change | undefined;
  /** Of the change that listeners hear of now; 0: none. */
  #depth = 0;
  /** How many answers to answers the delivery under way has. */
  #answers = 0;
  #isCutShort = false;

  constructor(options: Pick<ResolvedOptions, 'kind' | 'logger'>, events: Events) {
    this.#options = options;
    this.#events = events;
  }

  /**
   * A value is about to replace that of the entry.
   *
   * @param version `undefined`: it has none. `'unpublished'`: listeners hear of it when the result of {@link publishing} is
   * called, or when the next replacement is noted.
   */
  note(
    entry: Entry<unknown>,
    value: unknown,
    cause: ChangeCause,
    version: number | 'unpublished' | undefined,
  ): void {
    this.#unpublished = undefined;
    if (this.#options.kind === 'task' || !this.#events.has('changed')) return;
    const values = { value: { value }, ...(entry.isLoaded ? { previous: { value: entry.value } } : {}) };
    const isUnpublished = version === 'unpublished';
    const details = { ...keyOf(entry), version: isUnpublished ? undefined : version, cause };
    const change = this.#add('changed', details, values);
    if (isUnpublished) this.#unpublished = change;
  }

  /** The value of that key has left for those of others. */
  evicted(key: unknown): void {
    if (this.#events.has('evicted')) this.#add('evicted', { key });
    else this.#events.counters.count('evicted');
  }

  /** Call the result once the value that was noted last is published, with its version; `undefined`: it could not be. */
  publishing(): (version: number | undefined) => void {
    const change = this.#unpublished;
    return (version) => {
      if (change === undefined || change !== this.#unpublished) return;
      this.#unpublished = undefined;
      change.details = { ...change.details, version };
      this.deliver();
    };
  }

  /** Lets listeners hear of all changes up to now. Never throws. */
  deliver(): void {
    if (this.#line.length === 0 || this.#depth > 0) return; // a listener has led here: its changes come after those before
    try {
      for (let next = this.#line[0]; next && next !== this.#unpublished; next = this.#line[this.#delivered]) {
        this.#delivered += 1;
        this.#depth = next.depth;
        this.#events.emit(next.type, next.details as EventOf<'changed'>, next.values);
      }
    } finally {
      this.#line.splice(0, this.#delivered);
      this.#delivered = 0;
      this.#depth = this.#answers = 0;
      this.#isCutShort = false;
    }
  }

  #add(type: Change['type'], details: Change['details'], values: Change['values'] = {}): Change | undefined {
    if (this.#depth > 1) this.#answers += 1;
    if (this.#depth >= LONGEST_CHAIN || this.#answers > MOST_ANSWERS) {
      const text = `a listener of ${type} replaces the value each time, the last is not emitted`;
      if (!this.#isCutShort) this.#options.logger.error(text);
      this.#isCutShort = true;
      return undefined;
    }
    const change = { type, details, values, depth: this.#depth + 1 };
    this.#line.push(change);
    return change;
  }
}
