import type { Edit } from '../../records/records.ts';
import type { ServerTime } from './date-clock.ts';

/** A long text of a record, beside it. It is written once, never changed, and gone with its record. */
export interface LongText {
  readonly id: string;
  readonly text: string;
}

/** Replaces the text of a name if it is still the one before. Repeated after a lost reply it is done again. */
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
  /** Of a look: with its main text, unless that has the id `known`. */
  readonly isWhole?: boolean | undefined;
  readonly known?: string | undefined;
  /** The edit that it is for: callers wait for some of them longer than for others. @default 'read' */
  readonly op?: Edit['op'] | undefined;
}

/** The answer to a change: where it isn't done, and to a look, the present text. */
export interface Seen {
  readonly isDone: boolean;
  /** `undefined`: there is none. Not told of a swap that is done. */
  readonly text?: string | undefined;
  /** `undefined`: it was not asked for, or is not there. */
  readonly main?: string | undefined;
}

/**
 * A short text for each name, with long ones beside it, at a backend that replaces a text if it is still as it was
 * (compare-and-swap), and computes nothing. Each method is one command, or as few as the backend allows, and sees all that was
 * written before it. It rejects with any error of the client, at the latest at the deadline of a command.
 */
export interface Cells {
  /** As of `Records`. */
  readonly mostEdits: number;
  readonly sharesCommands: boolean;
  /** How long a command may take, in milliseconds. */
  readonly timeoutMs: number;
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
  /** As of `Records`. */
  warning?(): Promise<string | undefined>;
}
