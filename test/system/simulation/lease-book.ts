import type { AcquireRequest, LeaseId } from '../../../src/index.ts';
import type { Ending, LockRow } from '../../../src/lock/index.ts';
import type { Referee } from './referee.ts';

/** What is known of a lease that was granted. */
export interface Granted {
  readonly name: string;
  readonly token: number;
  readonly requestId: string;
  readonly force: boolean;
  /** By the clock of the engine. */
  until: number;
  /** How it was given back; `undefined`: it was not. */
  ending: Ending['state'] | undefined;
  /** When it ended, or when it will. Known for sure once it was given back, or somebody else has it. */
  endedAt: number;
  /** The engine has forgotten it. */
  isForgotten: boolean;
}

/** By its holder's clock it is over by then. */
const OVER_MS = 20;

interface Name {
  highestToken: number;
  granted: number;
  last: Granted | undefined;
  /** Nobody is to begin before. */
  heldUntil: number;
  holdIsDone: boolean;
}

/**
 * Books on the leases of all names, kept beside the engine and without its code: what each step must answer, by the
 * rules 11, 12, 14, 15 and 16.
 */
export class LeaseBook {
  readonly #names: Map<string, Name> = new Map();
  readonly #granted: Map<string, Granted> = new Map();
  readonly #open: Set<Granted> = new Set();
  /** The longest backoff after a failed round, in milliseconds. */
  readonly #longestBackoff: number;

  readonly #referee: Referee;

  constructor(longestBackoff: number, referee: Referee) {
    this.#referee = referee;
    this.#longestBackoff = longestBackoff;
  }

  /** The lease of a token, if it was granted. */
  of(name: string, token: number): Granted | undefined {
    return this.#granted.get(`${name} ${token}`);
  }

  /** How many leases of a name were granted. */
  grantedOf(name: string): number {
    return this.#names.get(name)?.granted ?? 0;
  }

  /** Those that somebody may take for his: he may not know yet that it is given back. */
  *open(at: number): Iterable<Granted> {
    for (const lease of this.#open) {
      if (lease.until + OVER_MS < at) this.#open.delete(lease);
      else yield lease;
    }
  }

  acquired({ name, requestId, leaseFor, force }: AcquireRequest, row: LockRow, at: number): void {
    const book = this.#of(name);
    const { last } = book;
    const isLive = last !== undefined && isLiveAt(last, at);
    if (isLive) {
      const rule = last.requestId === requestId ? 12 : 11;
      this.#referee.holds(rule, row.requestId === last.requestId && row.token === last.token, () => {
        return `${name}: token ${row.token} was granted while the lease of token ${last.token} is live`;
      });
      this.#referee.holds(11, close(row.leaseLeft, last.until - at), () => {
        return `${name}: ${row.leaseLeft} ms are said to be left, not ${last.until - at}`;
      });
      return;
    }
    const isGranted = row.requestId === requestId && row.state === 'running';
    if (book.heldUntil > at && !force) {
      this.#referee.holds(
        14,
        !isGranted,
        () => `${name}: acquired ${book.heldUntil - at} ms before the hold ends`,
      );
      const left = book.heldUntil - at;
      this.#referee.holds(
        14,
        close(row.holdLeft, left),
        () => `${name}: held for ${row.holdLeft} ms, not ${left}`,
      );
      const isDone = row.state === 'done';
      this.#referee.holds(
        14,
        isDone === book.holdIsDone,
        () => `${name}: a hold is told as of a round ${row.state}`,
      );
      return;
    }
    this.#referee.holds(15, isGranted, () => `${name}: it is free, and was not granted`);
    this.#referee.holds(12, row.token > book.highestToken, () => {
      return `${name}: token ${row.token} was granted after token ${book.highestToken}`;
    });
    this.#referee.holds(
      12,
      Number.isSafeInteger(row.token),
      () => `${name}: token ${row.token} is no safe integer`,
    );
    const isTakeOver = last !== undefined && !last.isForgotten && last.ending === undefined;
    this.#referee.holds(
      15,
      row.tookOver === isTakeOver,
      () => `${name}: took over is said to be ${row.tookOver}`,
    );
    book.highestToken = row.token;
    book.granted += 1;
    book.heldUntil = 0;
    book.last = {
      name,
      token: row.token,
      requestId,
      force,
      until: at + leaseFor,
      ending: undefined,
      endedAt: at + leaseFor,
      isForgotten: false,
    };
    this.#granted.set(`${name} ${row.token}`, book.last);
    this.#open.add(book.last);
  }

  extended(lease: LeaseId, leaseFor: number, isDone: boolean, at: number): void {
    const { last } = this.#of(lease.name);
    const isHis = last !== undefined && isOf(last, lease) && isLiveAt(last, at);
    this.#referee.holds(15, isDone === isHis, () => {
      return `${lease.name}: extending token ${lease.token} was answered ${isDone}`;
    });
    if (isHis) last.until = last.endedAt = at + leaseFor;
  }

  released(lease: LeaseId, { state, holdFor }: Ending, isDone: boolean, at: number): void {
    const book = this.#of(lease.name);
    const { last } = book;
    const isHis = last !== undefined && isOf(last, lease);
    const wasSaid = isHis && last.ending === state && !last.isForgotten;
    const isLive = isHis && isLiveAt(last, at);
    this.#referee.holds(15, isDone === (wasSaid || isLive), () => {
      return `${lease.name}: releasing token ${lease.token} as ${state} was answered ${isDone}`;
    });
    this.#referee.holds(14, state !== 'failed' || holdFor <= this.#longestBackoff, () => {
      return `${lease.name}: a failed round holds the next back for ${holdFor} ms`;
    });
    if (!isLive) return;
    last.ending = state;
    last.endedAt = at;
    book.heldUntil = at + holdFor;
    book.holdIsDone = state === 'done';
  }

  /** The engine has lost everything. */
  forgotten(): void {
    for (const lease of this.#granted.values()) lease.isForgotten = true;
    for (const book of this.#names.values()) book.heldUntil = 0;
  }

  #of(name: string): Name {
    let book = this.#names.get(name);
    if (book === undefined) {
      book = { highestToken: 0, granted: 0, last: undefined, heldUntil: 0, holdIsDone: false };
      this.#names.set(name, book);
    }
    return book;
  }
}

function isOf(granted: Granted, { token, requestId }: LeaseId): boolean {
  return granted.token === token && granted.requestId === requestId;
}

function isLiveAt({ ending, until, isForgotten }: Granted, at: number): boolean {
  return ending === undefined && until > at && !isForgotten;
}

/** But for the rounding of a sum. */
function close(one: number, other: number): boolean {
  return Math.abs(one - other) < 0.001;
}
