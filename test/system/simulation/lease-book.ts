import type { AcquireRequest, LeaseId } from '../../../src/cluster/lock-contract.ts';
import type { Ending, LockRow } from '../../support/records-of-steps.ts';
import type { Referee } from './referee.ts';

/** The state of a granted lease. */
export interface Granted {
  readonly name: string;
  readonly token: number;
  readonly requestId: string;
  readonly force: boolean;
  /** By the clock of the backend. */
  until: number;
  /** The outcome of its release; `undefined`: not released. */
  ending: Pick<Ending, 'state' | 'confirms'> | undefined;
  /** The end of the lease. Certain once it was released or another instance holds it. */
  endedAt: number;
  /** The backend has lost it. */
  isForgotten: boolean;
}

/** By its holder's clock the lease has ended then. */
const OVER_MS = 20;

interface Name {
  highestToken: number;
  granted: number;
  last: Granted | undefined;
  /** No round may begin before. */
  heldUntil: number;
  holdIsDone: boolean;
}

/**
 * A model of the leases of all names, independent of the code of the backend: the answer that each step must give by
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

  /** The number of leases granted for a name. */
  grantedOf(name: string): number {
    return this.#names.get(name)?.granted ?? 0;
  }

  /** The leases that an instance may still take for its own: it may not know yet that the lease was released. */
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
        () => `${name}: a hold is reported for a round ${row.state}`,
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
      () => `${name}: token ${row.token} is not a safe integer`,
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

  released(lease: LeaseId, { state, holdFor, confirms }: Ending, isDone: boolean, at: number): void {
    const book = this.#of(lease.name);
    const { last } = book;
    const isHis = last !== undefined && isOf(last, lease);
    const wasSaid =
      isHis && last.ending?.state === state && last.ending.confirms === confirms && !last.isForgotten;
    const isLive = isHis && isLiveAt(last, at);
    this.#referee.holds(15, isDone === (wasSaid || isLive), () => {
      return `${lease.name}: releasing token ${lease.token} as ${state} was answered ${isDone}`;
    });
    this.#referee.holds(14, state !== 'failed' || holdFor <= this.#longestBackoff, () => {
      return `${lease.name}: a failed round holds the next back for ${holdFor} ms`;
    });
    if (!isLive) return;
    last.ending = { state, confirms };
    last.endedAt = at;
    book.heldUntil = at + holdFor;
    book.holdIsDone = state === 'done';
  }

  /** The backend has lost all its data. */
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

/** Equality up to the rounding of a sum. */
function close(one: number, other: number): boolean {
  return Math.abs(one - other) < 0.001;
}
