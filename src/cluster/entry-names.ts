import type { Entry } from '../engine/entry.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import { lockName, type TicklessError } from '../errors.ts';
import { optionError } from '../option-error.ts';
import { backendName, isWithin, LONGEST_NAME_BYTES } from './backend-name.ts';
import { recordName } from './namespace.ts';
import type { SnapshotMaker } from './snapshot.ts';

/** The names of the entries of one member, at its backends and in its snapshots. */
export class EntryNames {
  readonly #member: string;
  readonly #record: string;

  /** @param record the name of the record of a value. @default that of its name */
  constructor({ name }: Pick<ResolvedOptions, 'name'>, record: string = recordName(name)) {
    this.#member = name;
    this.#record = record;
  }

  /**
   * Refuses a key whose name is too long for any backend, before anything is loaded.
   *
   * @throws {TicklessError} `OPTION`
   */
  checkKey({ id, key }: Entry<unknown>): void {
    if (key === undefined || typeof id !== 'string') return;
    if (isWithin(lockName(this.#member, id), LONGEST_NAME_BYTES)) return;
    throw this.#refused(
      'key',
      `must be short enough for a lock name of ${LONGEST_NAME_BYTES} bytes`,
      id,
      key,
    );
  }

  /**
   * The name of an entry at a backend.
   *
   * @param longest what the backend accepts, in bytes of UTF-8.
   * @throws {TicklessError} `OPTION` for a key that has no name, or too long a one.
   */
  atBackend(
    entry: Pick<Entry<unknown>, 'id' | 'key'>,
    longest: number | undefined,
  ): string | Promise<string> {
    const name = this.#nameOf(entry);
    const atBackend = backendName(name, longest);
    if (atBackend === undefined) throw this.#refused('name', `must be at most ${longest} bytes long`, name);
    return atBackend;
  }

  /** The origin that snapshots of an entry carry. @throws {TicklessError} `OPTION` for a key that has no name. */
  makerOf(entry: Entry<unknown>): SnapshotMaker {
    return { kind: entry.key === undefined ? 'value' : 'key', name: this.#nameOf(entry) };
  }

  #nameOf({ id, key }: Pick<Entry<unknown>, 'id' | 'key'>): string {
    if (key === undefined) return this.#record;
    if (id !== null && ['string', 'number', 'bigint', 'boolean'].includes(typeof id)) {
      return recordName(lockName(this.#member, id), true);
    }
    const rule = 'must return a string or a number for such keys, so that the lock has a name for them';
    throw this.#refused('keyOf', rule, id, key);
  }

  #refused(option: string, rule: string, received: unknown, key?: unknown): TicklessError {
    return optionError([{ option, rule, received }], { member: this.#member, key });
  }
}
