import type { Edit } from '../records.ts';
import type { ServerTime } from './known-clock.ts';

/** A long text of a record, beside it. It is written once, never changed, and gone with its record. */
export interface LongText {
  readonly id: string;
  readonly text: string;
}

/**
 * Replaces the text of a name if it is still the one before. Where the text is `after` already, it is done too: its answer was lost. Not
 * so a deletion that finds none.
 */
export interface Swap {
  /** `undefined`: there is none. */
  readonly before: string | undefined;
  /** `undefined`: deletes it, with all its long texts. */
  readonly after: string | undefined;
  /** The id of the long text that is returned with it. */
  readonly main: string | undefined;
  /** Is written with it. */
  readonly adds: LongText | undefined;
  /** The ids of long texts that it names no longer: they are deleted with it. */
  readonly drops: readonly string[];
  /** It is kept at least for this long, in milliseconds, with its long texts; `Infinity`: for ever. */
  readonly keepForMs: number;
}

/** A change of one name, or a look at it. */
export interface Change {
  readonly name: string;
  /** `undefined`: it is only looked at. */
  readonly swap?: Swap | undefined;
  /** Where the answer has a text, it has the main text beside it too, unless that has the id `known`. */
  readonly isWhole?: boolean | undefined;
  readonly known?: string | undefined;
  /** The edit that it is for: callers wait for some of them longer than for others. @default 'read' */
  readonly op?: Edit['op'] | undefined;
}

/** The answer to a look, and to a swap that isn't done: the present text. A swap that is done returns no texts. */
export interface Seen {
  readonly isDone: boolean;
  /** `undefined`: there is none. */
  readonly text?: string | undefined;
  /** The main text of that text. `undefined`: it was not asked for, or is not there. */
  readonly main?: string | undefined;
}

/**
 * A short text for each name, with long ones beside it, at a backend that replaces a text if it is still as it was
 * (compare-and-swap), and computes nothing. Each method is one command, or as few as the backend allows, and sees all that was
 * written before it. It rejects with any error of the client, at the latest at the deadline of a command.
 */
export interface Cells {
  /** How many names of keys that are due together are joined in one call of `swap`; with 1 none are. No limit of a call. @default 1 */
  readonly mostEdits?: number | undefined;
  /** Whether the changes of one call share a command, whatever their names. It may change while in use, when the server is known. @default false */
  readonly sharesCommands?: boolean | undefined;
  /** After this time, or three times that of a put, no further try of a step begins, in milliseconds. @default Infinity: while other instances are faster */
  readonly timeoutMs?: number | undefined;
  /** The most bytes of all texts of a name, in UTF-8: earlier editions that do not fit are left out. @default Infinity */
  readonly mostBytes?: number | undefined;
  /**
   * Any number of changes, each of another name and atomic.
   *
   * @returns the answers at their indexes; an `Error`: that change alone has failed. Rejects where all have.
   */
  swap(
    changes: readonly Change[],
  ): Promise<{ readonly now: ServerTime; readonly answers: readonly (Seen | Error)[] }>;
  /** Long texts of a name: as many characters of the first line of each, or more; `Infinity`: all. `undefined`: it is not there. */
  long(name: string, ids: readonly string[], most: number): Promise<readonly (string | undefined)[]>;
  /** At least the first `limit` names that begin with a text, if there are as many, with their texts. */
  list(
    prefix: string,
    limit: number,
  ): Promise<{
    readonly now: ServerTime;
    readonly texts: readonly (readonly [name: string, text: string])[];
  }>;
  /**
   * A setting of the backend that breaks a promise of a lock, in a line for people; `undefined`: none is seen. Asked once for each
   * lock object, behind the first lease of a member; a rejection counts as none.
   */
  warning?(): Promise<string | undefined>;
}
