/**
 * Whether a record keeps others from claiming its name: `leased` while its holder works; `seized`, the same, where the holder
 * before had let its lease expire; `held` after the work, until the next may begin.
 */
export type Phase = 'leased' | 'seized' | 'held';

/** A record as its backend has it now. Durations are milliseconds by the backend's clock. */
export interface Row {
  /** Grows with each claim and put of the name. */
  readonly token: number;
  /** Of the request that has claimed it; empty after a put. */
  readonly id: string;
  readonly phase: Phase;
  readonly text: string;
  /** Of the last amendment that ended its lease; empty before. */
  readonly note: string;
  /** Since the claim or the put. Negative where the backend's clock was set back. */
  readonly age: number;
  /** Since the last change of its phase. */
  readonly changedAgo: number;
  /** Until others may claim the name; 0: they may. */
  readonly left: number;
  /** The field that no edit can have written: the record counts as absent, except for a plausible token. */
  readonly damage?: string | undefined;
  /** The file that is damaged, for people. */
  readonly place?: string | undefined;
  /** The damaged field of the record that this one has replaced. */
  readonly replaced?: string | undefined;
  /** How long it is pinned. @default undefined: it is not */
  readonly pinnedFor?: number | undefined;
}

/**
 * Takes the name, unless it is leased, or held and the claim not forced, or the other part of the name is pinned: the answer has the
 * row of that then. Claimed again with the same id, it is the same lease.
 */
export interface Claim<T = string> {
  readonly op: 'claim';
  readonly name: string;
  readonly id: string;
  readonly text: T;
  readonly forMs: number;
  readonly force: boolean;
}

/**
 * Changes the record with that token and id while it is leased: it ends `forMs` from now. `phase: 'held'` ends the lease, and
 * is done also where the same note has ended it before. Without an id it applies in any phase.
 */
export interface Amend {
  readonly op: 'amend';
  readonly name: string;
  readonly token: number;
  readonly id?: string | undefined;
  readonly phase?: 'held' | undefined;
  readonly note?: string | undefined;
  readonly forMs: number;
  /** How long the record is kept after its end, if that is less than the backend keeps any. */
  readonly keepMs?: number | undefined;
  /** A hold that the claim has replaced is there again, in place of the end of this lease. @default false */
  readonly restores?: boolean | undefined;
}

/**
 * Replaces the text, unless the record has a greater token that is not `over`. Put again with the same token, text
 * and `keepMs`, it is done, and nothing changes: its age goes on. So it is put again in the place of the `expected` token: no two
 * callers put the same text there.
 */
export interface Put<T = string> {
  readonly op: 'put';
  readonly name: string;
  /** @default the next one by the clock */
  readonly token?: number | undefined;
  readonly over?: number | undefined;
  /** It is done only where the record has this token; 0: where there is none, or a damaged one. @default whatever it has */
  readonly expected?: number | undefined;
  readonly text: T;
  /** As of {@link Amend}; earlier editions are deleted then, and this one does not become one. */
  readonly keepMs?: number | undefined;
  /** How many earlier editions are kept. */
  readonly older: number;
  /** Put again with the same id, it is done, and nothing changes. @default undefined: it has none */
  readonly id?: string | undefined;
  /** The record is pinned for that long, in milliseconds. @default undefined: it is not */
  readonly pinMs?: number | undefined;
  /** It is not done where the record is pinned. @default false */
  readonly sparesPinned?: boolean | undefined;
}

/**
 * Ends the lease or the hold of a name, also that of another owner, as a release would that ends a round as done: it has the token of
 * the snapshot that was put before it in the same call. Where the name has that token already, or was claimed since, it is done, and
 * nothing changes.
 */
export interface Impose<T = string> {
  readonly op: 'impose';
  readonly name: string;
  readonly id: string;
  readonly text: T;
  readonly note: string;
  readonly forMs: number;
}

/** Looks at a record, and changes nothing. */
export interface Read {
  readonly op: 'read';
  readonly name: string;
  /** No row unless its token is greater. */
  readonly newerThan?: number | undefined;
  /** The edition with this token. @default the present one */
  readonly token?: number | undefined;
  /** Without its text, and not prolonging how long it is kept. */
  readonly isBrief?: boolean | undefined;
}

/** Deletes a record with its earlier editions. */
interface Delete {
  readonly op: 'delete';
  readonly name: string;
}

/** One atomic change of one record, or a look at it. @typeParam T how a backend keeps a text. */
export type Edit<T = string> = Claim<T> | Amend | Put<T> | Impose<T> | Read | Delete;

/** The result of an edit. */
export interface Answer {
  /** As of `edited`; of a read whether there is a row. */
  readonly isDone: boolean;
  /**
   * The record after it; of a read the edition that was asked for. Its text is left out (empty) but for a claim and a read
   * that is not brief. `undefined`: there is none.
   */
  readonly row: Row | undefined;
}

/** One of the editions of a record, with the first line of its text. */
export interface ListedEdition {
  readonly row: Row;
  /** Of the whole text, in UTF-8. */
  readonly bytes: number;
}

/**
 * Records by name, at a backend with a clock. The pure function `edited` is the definition of each edit. A name is claimed or put,
 * not both. All methods reject with any error of the client.
 */
export interface Records {
  /**
   * How many edits of rounds are joined in one call of `apply`, where several are due at once; with 1 none are. No limit of a call: a
   * check of the store has a read of each of its names.
   */
  readonly mostEdits: number;
  /** Whether the edits of one call share a command, whatever their names. It may change while in use, when the server is known. */
  readonly sharesCommands: boolean;
  /**
   * All edits in one command, or as few as the backend allows; each is atomic, and no name occurs twice, but for a read behind its
   * change. Those of the lock and the snapshot of one name are one change: all of them are made, or none, and then none is done. A read
   * beside a change that is made is brief; beside one that is not it sees what stands against it. In files they are made one after the
   * other, up to the first one that is not done.
   *
   * @returns the backend's wall clock in epoch milliseconds, and for each edit its answer at the same index; an `Error`: that
   *   edit alone has failed. Rejects where all have: any of them may be done.
   */
  apply(
    edits: readonly Edit[],
  ): Promise<{ readonly now: number; readonly answers: readonly (Answer | Error)[] }>;
  /** The rows of at most `limit` names that begin with a text, by name, without those that were to be kept until before now. */
  list(
    prefix: string,
    limit: number,
  ): Promise<{ readonly now: number; readonly rows: readonly (readonly [name: string, row: Row])[] }>;
  /** The editions of a name, newest first, with the first lines of their texts, as far as `beginning` characters have it, or more. */
  editions(name: string, beginning: number): Promise<readonly ListedEdition[]>;
  /**
   * A setting of the backend that breaks a promise of a lock, in a line for people; `undefined`: none is seen. Asked once for each
   * lock object, behind the first lease of a member; a rejection counts as none.
   */
  warning?(): Promise<string | undefined>;
}

/** The methods of records. */
export type Steps = Pick<Records, 'apply' | 'list' | 'editions' | 'warning'>;
