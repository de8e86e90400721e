import { join } from 'node:path';
import { isPlausibleToken } from '../../cluster/plausible.ts';
import { damageOf, editionsOf, type StoredRecord, UNREADABLE } from '../../records/edited.ts';
import { decodeState, encodeState, recordAt, type State, type Text, textFilesOf } from './file-state.ts';
import type { MachineClock, Moment } from './machine-clock.ts';
import type { Durability, NumberedFiles } from './numbered-files.ts';
import { type Head, StateChain } from './state-chain.ts';
import type { Visited } from './sweep.ts';

/** The record in a folder, as its present state has it. */
export interface Present {
  readonly head: Head;
  readonly now: Moment;
  /** Empty if its state can't be read. */
  readonly name: string;
  /** With the instants of the present clock; `undefined`: there is none. An unreadable one has the editions before it. */
  readonly record: StoredRecord<Text> | undefined;
  /** The part that can’t be read; the token is unknown then. */
  readonly unreadable?: 'file' | 'token' | undefined;
  /** Where the token is unknown, those of the states before, newest first. */
  readonly tokensBefore?: readonly number[] | undefined;
}

/**
 * The folder of one record: a chain of its states, and its long texts in files beside them. Such a text is written before
 * the state that names it, and deleted after the last one that does.
 */
export class RecordFolder {
  readonly #files: NumberedFiles;
  readonly #clock: MachineClock;
  readonly #folder: string;
  readonly #chain: StateChain;

  constructor(files: NumberedFiles, clock: MachineClock, folder: string) {
    this.#files = files;
    this.#clock = clock;
    this.#folder = folder;
    this.#chain = new StateChain(files, folder);
  }

  /** @returns `undefined`: the folder is missing, or has no state. */
  async read(): Promise<Present | undefined> {
    const head = await this.#chain.head();
    const now = this.#clock.now();
    if (head === undefined) return undefined;
    const state = this.#stateIn(head.content);
    const record = state && recordAt(state, now);
    const isTokenDamaged = record !== undefined && damageOf(record, now) === 'token';
    if (state !== undefined && !isTokenDamaged) return { head, now, name: state.name, record };
    const records = (await this.#chain.before(head)).flatMap((content) => {
      const earlier = this.#stateIn(content);
      const found = earlier && recordAt(earlier, now);
      return found !== undefined && isPlausibleToken(found.token, now.wall) ? found : [];
    });
    return {
      ...{ head, now, name: state?.name ?? '', unreadable: state === undefined ? 'file' : 'token' },
      record: { ...UNREADABLE, older: records[0] === undefined ? [] : editionsOf(records[0]) },
      tokensBefore: records.map(({ token }) => token),
    };
  }

  /** One that was copied from the folder of another name is none. */
  #stateIn(content: string | null): State | undefined {
    const state = decodeState(content);
    return state !== undefined && this.#files.folderOf(state.name) === this.#folder ? state : undefined;
  }

  /** @param most as many characters of a long text, or more. @returns `undefined`: it was deleted, or is damaged. */
  async textIn(text: Text, most?: number): Promise<string | undefined> {
    if (typeof text === 'string') return text;
    return this.#files.readText(this.#folder, text, most === undefined ? undefined : 3 * (most + 1));
  }

  /** The path of a file that is damaged: that of a long text, or of a state. */
  placeOf({ head }: Present, text?: Text): string {
    if (typeof text === 'object') return join(this.#folder, text.file);
    return this.#files.pathOf(this.#folder, head.number);
  }

  /** Creates the common start of all processes, unless there is one. */
  begin(name: string): Promise<void> {
    return this.#chain.begin(encodeState(name, null, this.#clock.now()));
  }

  /**
   * Puts a record into the place of the present one.
   *
   * @param next `null`: deletes the present one.
   * @param text the text of the next record, where that is to be in a file of its own.
   * @returns false: another process was faster, and nothing has changed.
   */
  async replace(
    name: string,
    present: Present,
    next: StoredRecord<Text> | null,
    survives: Durability,
    text?: string,
  ): Promise<boolean> {
    const { head, now } = present;
    const file = text === undefined ? undefined : await this.#files.writeText(this.#folder, text, survives);
    const written = file === undefined || next === null ? next : { ...next, text: file };
    if (!(await this.#chain.append(head, encodeState(name, written, now), survives))) {
      if (file !== undefined) await this.#files.remove(this.#folder, [file.file]);
      return false;
    }
    // There may be no right to delete files of another user.
    if (written !== null) await this.#tidy(present, textFilesOf(written)).catch(() => {});
    else await this.clear(present, head.number + 1).catch(() => {});
    return true;
  }

  /** Without a record: whether the process that has begun or deleted it does not go on. */
  isAbandoned({ head }: Present): Promise<boolean> {
    return this.#files.isAbandoned(this.#folder, head.number);
  }

  /** Deletes the files of a record that is deleted, the present state last. */
  async clear(present: Present, last: number = present.head.number): Promise<void> {
    await this.#tidy(present, []);
    const { numbers } = present.head.listing;
    await this.#chain.remove(last === present.head.number ? numbers : [...numbers, last]);
  }

  /** Deletes the texts that only the record before has named, and what processes that were killed have left. */
  async #tidy({ head, record }: Present, kept: readonly string[]): Promise<void> {
    const gone = (record === undefined ? [] : textFilesOf(record)).filter((file) => !kept.includes(file));
    await this.#files.remove(this.#folder, gone);
    const unknown = head.listing.others.filter((file) => !kept.includes(file) && !gone.includes(file));
    await this.#files.removeAbandoned(this.#folder, unknown);
  }

  /** Deletes what processes that were killed have left in a folder without a state. */
  async tidyEmpty(): Promise<Visited> {
    const { others } = await this.#files.list(this.#folder);
    if (!(await this.#files.removeAbandoned(this.#folder, others))) return 'kept'; // nothing shows that it is ours
    await this.#files.removeFolder(this.#folder);
    return 'deleted';
  }
}
