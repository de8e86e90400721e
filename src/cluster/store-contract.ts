import type { Fleet } from '../data/fleet.ts';
import type { VersionRecord } from '../data/version-record.ts';

/** Encodes values as text or bytes, and decodes them. */
export interface Codec {
  /**
   * Name of the format with its version: `'msgpack/1'`. A snapshot in another format is not decoded: it counts as
   * absent, and is reported. @default 'custom'
   */
  readonly format?: string | undefined;
  /**
   * Text or bytes; large ones block the event loop for as long as this takes, unless it is asynchronous (in a thread, say).
   *
   * @throws for a value that it can't encode; the snapshot is not published then.
   */
  encode(value: unknown): string | Uint8Array | PromiseLike<string | Uint8Array>;
  /**
   * The value; may be asynchronous, as `encode` may: a promise is awaited.
   *
   * @param encoded a result of `encode`: text stays text, bytes stay bytes.
   * @throws for anything that `encode` did not return; the snapshot counts as absent then.
   */
  decode(encoded: string | Uint8Array): unknown;
}

/** The snapshot that a store has under a name. */
export interface StoredSnapshot {
  /** Grows with each write of the name. For a write with a token it is the token. */
  readonly version: number;
  /**
   * Milliseconds since the write, by the backend's clock. A write that lies up to a minute in its future, because the clock
   * was set back, has the age 0; beyond that the age is unknown, and the snapshot is damaged.
   */
  readonly age: number;
  /** The text that was written. Empty if the snapshot is damaged. */
  readonly payload: string;
  /**
   * Why a present snapshot can't be used: its record was edited (its version is more than a year ahead of the backend's clock,
   * say), its age is unknown, or the disk is faulty. It counts as absent, and is reported; the next write replaces it.
   * @default undefined: it is readable
   */
  readonly damage?: string | undefined;
  /**
   * The text that `confirm` has put beside this version, and the milliseconds since then, as `age`. Not where a version was asked for.
   * @default undefined: there is none
   */
  readonly confirmation?: { readonly text: string; readonly age: number } | undefined;
}

/** A version that a store has under a name, as its backend lists it. `createStore` makes a {@link VersionRecord} of it. */
export interface StoredVersion extends Pick<VersionRecord, 'version' | 'age' | 'bytes' | 'damage'> {
  /** The first line of the payload, as far as its first 16,384 characters have it, or more: a snapshot names its publisher there. */
  readonly beginning: string;
}

/** How many characters of the first line of a payload {@link StoredVersion} has at least. */
export const BEGINNING_LENGTH = 16_384;

/** A report of an instance, kept for a while beside the snapshots. It replaces the one before of that instance. */
export interface InstanceReport {
  /** At most 200 characters. */
  readonly instance: string;
  /** At most 64 kB (65,536 bytes of UTF-8). */
  readonly text: string;
  /** The report expires after this many milliseconds. Over 0, finite. */
  readonly keepFor: number;
  /** A whole number from 0. It replaces no report with a higher one, which may arrive before it. @default it replaces any */
  readonly serial?: number | undefined;
}

/** A report that a store has of an instance. */
export interface StoredReport {
  readonly instance: string;
  readonly text: string;
  /** Milliseconds since it was written, by the backend's clock. */
  readonly age: number;
}

/** The longest report, in bytes of UTF-8. */
export const LONGEST_REPORT = 65_536;

/** The most reports that a store lists. */
export const MOST_REPORTS = 1000;

/** Result of a write. */
export interface WriteAnswer {
  /** `refused`: the store has a snapshot with a newer token. */
  readonly kind: 'written' | 'refused';
  /** The version that the store has after this write. */
  readonly version: number;
}

/** Result of a write in the place of a version. */
export type ReplaceAnswer =
  | { readonly kind: 'written'; readonly version: number }
  | {
      readonly kind: 'refused';
      /** In the place of that version; `undefined`: there is none. */
      readonly present: StoredSnapshot | undefined;
    };

/**
 * Keeps the last snapshot of each name for all instances of a cluster, over restarts.
 *
 * Each method is one atomic step at the backend; only the backend's clock measures the age of a snapshot. It rejects
 * with `BACKEND_DOWN` within a bounded time when the backend does not answer, and with `OPTION` when an
 * argument breaks a rule; with nothing else.
 *
 * `createBackend` of `tickless/backend` makes it of records.
 */
export interface Store {
  /** Encodes and decodes payloads. @default JSON, or devalue for what JSON would change */
  readonly codec?: Codec | undefined;
  /** The longest name that the store accepts, in bytes of UTF-8. `undefined`: any length. */
  readonly longestName?: number | undefined;
  /**
   * The snapshot of a name; `undefined`: none, or none newer than `newerThan`.
   *
   * @param newerThan returns only a snapshot whose version is greater. @default any
   * @param version returns this version, the present one or an older one that is kept; `undefined` where it is not kept.
   * @default the present one
   */
  read(name: string, newerThan?: number, version?: number): Promise<StoredSnapshot | undefined>;
  /**
   * Replaces the snapshot of a name. A second write with the same token, after a lost reply, is `written` again; of the same
   * payload it leaves the age as it is. Of concurrent writes with tokens the one with the highest token remains.
   *
   * @param token the fencing token of the lease under which the snapshot was made. The write is refused if the store
   * has a greater version, unless that is more than a year ahead of the backend's clock in microseconds. Without a token
   * the version is `max(previous + 1, the backend's clock in microseconds)`.
   * @param rejected a version whose payload the caller could not decode: it does not refuse the write. @default none
   * @param keepFor the snapshot is of no use for longer than this, in milliseconds: it says that the source has no such
   * key. The backend keeps it for this long or for its retention, whichever is shorter; the next write counts as any. Over
   * 0, finite. @default the retention
   */
  write(
    name: string,
    payload: string,
    token?: number,
    rejected?: number,
    keepFor?: number,
  ): Promise<WriteAnswer>;
  /**
   * Puts a text of at most 4,096 characters beside the present snapshot, in the place of the one before: its value was loaded again,
   * and is the same. `version` and `age` stay, what is read has it as `confirmation`, and the next write deletes it. The retention
   * begins anew.
   *
   * @returns `refused`: the present version is another one, which it returns; 0: there is none, or it is damaged.
   */
  confirm(name: string, version: number, text: string): Promise<WriteAnswer>;
  /**
   * The present version of each name, at the same index; 0: there is none, or its version is damaged. A check whether
   * anything has changed: it reads no payload, so the snapshot of a version may still prove to be damaged, and does not
   * prolong the retention of a snapshot. One command, or as few as the backend allows. No name occurs twice. Rejects where the
   * version of one name could not be read.
   *
   * @param report stored in the same step where the backend can do so, else before or after it. Where the step rejects, it may be
   *   stored. @default none
   */
  versions(names: readonly string[], report?: InstanceReport): Promise<readonly number[]>;
  /**
   * The reports that have not expired, in any order: at most 1,000. Of further instances some have no report in the store,
   * until others have expired.
   */
  reports(): Promise<readonly StoredReport[]>;
  /** Deletes the snapshot of a name, and its older versions. @returns whether there was a snapshot. */
  delete(name: string): Promise<boolean>;
  /**
   * The versions of a name that the store has, newest first: the present snapshot, and with `keepVersions` those before
   * it. Empty: there are none.
   */
  history(name: string): Promise<readonly VersionRecord[]>;
  /** How many versions of each snapshot are kept. @default 1 */
  readonly keepVersions?: number | undefined;
  /**
   * The instances that use the store, and each member on all of them, by the reports that they leave with the commands of
   * their checks and rounds. Those that are not read are not among them. Of at most 1,000 instances. Empty: there are none, or
   * the backend keeps no reports.
   *
   * Rejects with `BACKEND_DOWN` when the backend does not answer.
   */
  fleet(): Promise<Fleet>;
}
