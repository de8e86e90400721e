import type { ObjectStorage } from './object-state.ts';

/** At most one alarm in this time, in milliseconds: each one is charged as a request, and reads all rows. */
const PAUSE_MS = 600_000;

/** The alarm of an object, which wakes it up when a text expires; at the earliest {@link PAUSE_MS} after the one before. */
export class ExpiryAlarm {
  readonly #storage: ObjectStorage;
  /** When it goes off; `undefined`: the storage was not asked. */
  #at: number | undefined;
  #earliest = 0;

  constructor(storage: ObjectStorage) {
    this.#storage = storage;
  }

  /** Sets it where it would go off later than this instant. */
  async setBy(instant: number): Promise<void> {
    if (instant === Infinity) return;
    if (this.#at === undefined) {
      const at = (await this.#storage.getAlarm()) ?? Infinity;
      this.#at ??= at; // another step may have set it meanwhile
    }
    await this.#set(Math.max(instant, this.#earliest));
  }

  /** It has gone off. @param next when the next text expires; `undefined`: none does. */
  async wentOff(next: number | undefined): Promise<void> {
    this.#at = Infinity;
    this.#earliest = Date.now() + PAUSE_MS;
    if (next !== undefined) await this.#set(Math.max(next, this.#earliest));
  }

  async #set(at: number): Promise<void> {
    if (at >= (this.#at as number)) return;
    this.#at = at;
    await this.#storage.setAlarm(at);
  }
}
