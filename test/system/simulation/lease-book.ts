import type { LockRow } from '../../support/records-of-steps.ts';
import type { End, Message } from './message.ts';
import type { Referee } from './referee.ts';

/** When and by what knowledge a swap was decided, or a step was asked for. */
export interface Decision {
  /** By the clock of the backend. */
  readonly at: number;
  /** How well the instance knew that clock, in milliseconds; `Infinity`: the clock was set, or the data were lost, since it was told. */
  readonly width: number;
}

/** A lease or a hold in a record, as it was written. */
interface Written {
  readonly token: number;
  readonly until: number;
  /** The lease that has ended, where it has brought back a hold. */
  readonly unused?: { readonly token: number } | undefined;
}

/** A round that is over, and holds the next one back. */
interface Hold {
  readonly token: number;
  readonly until: number;
  readonly isDone: boolean;
}

/** The state of a granted lease. */
export interface Granted {
  readonly name: string;
  readonly token: number;
  readonly requestId: string;
  readonly force: boolean;
  /** The hold that it has replaced. */
  readonly replaced: Hold | undefined;
  /** By the clock of the backend. */
  until: number;
  /** The same as its holder counts it, which notices no step of that clock. */
  countedUntil: number;
  /** The outcome of its release; `undefined`: not released. */
  ending: { readonly state: End; readonly confirms: string | undefined } | undefined;
  /** The end of the lease. Certain once it was released or another instance holds it. */
  endedAt: number;
  /** The backend has lost it, or its clock was set while it lasted. */
  isForgotten: boolean;
}

/** By its holder's clock the lease has ended then. */
const OVER_MS = 20;

/** The rounding of the clock in an answer, and of sums. */
const ROUNDING_MS = 2;

/** An end is told to be so much later than it may be: who asks then does not ask too early. */
const LATER_MS = 10;

interface Name {
  highestToken: number;
  /** The backend has lost its record, and has no other one yet: the clock is all that tokens grow by. */
  isLost: boolean;
  granted: number;
  last: Granted | undefined;
  /** No round may begin before its end. */
  hold: Hold | undefined;
  /** The last change of its record, by the clock of the backend. */
  changedAt: number;
}

/**
 * A model of the leases of all names, independent of the code that decides about them: what each swap may do, and what each
 * step may be answered, by rules 11, 12, 14, 15 and 16. A swap is judged by the clock of the backend when it was decided: where the
 * name was changed since, it does nothing.
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

  /** The number of leases granted for a name, and of changes of people. */
  grantedOf(name: string): number {
    return this.#names.get(name)?.granted ?? 0;
  }

  /** The leases that an instance may still take for its own: it may not know yet that the lease was released. */
  *open(at: number): Iterable<Granted> {
    for (const lease of this.#open) {
      if (lease.countedUntil + OVER_MS < at) this.#open.delete(lease);
      else yield lease;
    }
  }

  /** A swap has claimed the name. @param at by the clock of the backend. */
  acquired(
    { name, requestId = '', force = false, leaseFor = 0 }: Message,
    { token, until, isSeized }: Written & { readonly isSeized: boolean },
    { at: decidedAt, width }: Decision,
    at: number,
  ): void {
    const book = this.#of(name);
    const { last } = book;
    const isCertain = width < Infinity;
    if (isCertain) {
      this.#holds(11, last === undefined || !isLiveAt(last, decidedAt), () => {
        return `${name}: token ${token} was granted while the lease of token ${last?.token} is live`;
      });
      this.#holds(14, force || heldUntil(book) <= decidedAt, () => {
        return `${name}: acquired ${heldUntil(book) - decidedAt} ms before the hold ends`;
      });
      this.#holds(12, token > leastToken(book, { at: decidedAt, width }), () => {
        return `${name}: token ${token} was granted after token ${book.highestToken}`;
      });
      this.#lasts(name, token, until - decidedAt, leaseFor, width);
    }
    this.#holds(12, Number.isSafeInteger(token), () => `${name}: token ${token} is not a safe integer`);
    const isTakeOver = last !== undefined && !last.isForgotten && last.ending === undefined;
    this.#holds(15, isSeized === isTakeOver || last?.isForgotten === true, () => {
      return `${name}: took over is said to be ${isSeized}`;
    });
    const { hold: replaced } = book;
    book.highestToken = book.isLost ? token : Math.max(token, book.highestToken);
    book.isLost = false;
    book.granted += 1;
    book.hold = undefined;
    book.changedAt = at;
    book.last = {
      name,
      token,
      requestId,
      force,
      replaced,
      until,
      countedUntil: until,
      ending: undefined,
      endedAt: until,
      isForgotten: !isCertain,
    };
    this.#granted.set(`${name} ${token}`, book.last);
    this.#open.add(book.last);
  }

  /** A swap has extended a lease. */
  extended(
    { name, requestId, leaseFor = 0 }: Message,
    written: Written,
    decision: Decision,
    at: number,
  ): void {
    const { token, until } = written;
    const last = this.#heldBy(name, token, requestId, decision, 'extended');
    if (last === undefined) return;
    if (decision.width < Infinity) this.#lasts(name, token, until - decision.at, leaseFor, decision.width);
    last.until = last.countedUntil = last.endedAt = until;
    this.#of(name).changedAt = at;
  }

  /** A swap has released a lease. */
  released(message: Message, { token: shown, until, unused }: Written, decision: Decision, at: number): void {
    const { name, requestId, as: state = 'abandoned', confirms, holdFor = 0 } = message;
    const isRestored = state === 'abandoned' && unused !== undefined;
    const token = isRestored ? unused.token : shown;
    const last = this.#heldBy(name, token, requestId, decision, 'released');
    this.#holds(14, state !== 'failed' || holdFor <= this.#longestBackoff, () => {
      return `${name}: a failed round holds the next back for ${holdFor} ms`;
    });
    if (last === undefined) return;
    const book = this.#of(name);
    const isHeld = holdFor > 0 && until > 0;
    if (isHeld && decision.width < Infinity)
      this.#lasts(name, token, until - decision.at, holdFor, decision.width);
    const restored = isRestored ? last.replaced : undefined;
    const isOver = until === 0 && !isHeldAt(restored, decision.at + decision.width);
    const isRight = restored?.token === shown && (restored.until === until || isOver);
    this.#holds(14, !isRestored || isRight, () => {
      return `${name}: token ${token} leaves the hold of token ${shown} until ${until}, not that of ${restored?.token} until ${restored?.until}`;
    });
    // Where the instance had not known the clock, that hold may have been over.
    const isKept = isRestored || state !== 'abandoned' || last.isForgotten || !isHeldAt(last.replaced, at);
    this.#holds(14, isKept, () => {
      return `${name}: token ${token} is abandoned, and the hold that it has replaced is not there again`;
    });
    last.ending = { state, confirms };
    last.endedAt = at;
    const isDone = restored?.isDone ?? state === 'done';
    book.hold = isHeld || isRestored ? { token: shown, until, isDone } : undefined;
    book.changedAt = at;
  }

  /** A person has ended the lease or the hold of a name, whoever has it. Sent again, it may hold the name for less. */
  imposed(
    { name, requestId = '' }: Message,
    { token, until }: Written,
    decision: Decision,
    at: number,
  ): void {
    const book = this.#of(name);
    const { last } = book;
    this.#holds(12, token > leastToken(book, decision) || decision.width === Infinity, () => {
      return `${name}: a person has token ${token} after token ${book.highestToken}`;
    });
    if (last !== undefined && last.ending === undefined) last.endedAt = at;
    const ending = { state: 'done', confirms: undefined } as const;
    const end = { until: at, countedUntil: at, ending, endedAt: at };
    book.last = { name, token, requestId, force: false, replaced: undefined, ...end, isForgotten: false };
    book.highestToken = book.isLost ? token : Math.max(token, book.highestToken);
    book.isLost = false;
    book.granted += 1;
    book.hold = { token, until, isDone: true };
    book.changedAt = at;
  }

  /** A lease or a hold is never shorter than asked for, and longer by what is not known of the clock. */
  #lasts(name: string, token: number, ms: number, askedFor: number, width: number): void {
    const isRight = ms >= askedFor - ROUNDING_MS && ms <= askedFor + width + ROUNDING_MS;
    this.#holds(15, isRight, () => {
      return `${name}: token ${token} keeps others away for ${ms} ms, not ${askedFor}, and the clock was known to ${width} ms`;
    });
  }

  /** The lease that is changed: nobody but its holder does so, and not after its end. */
  #heldBy(
    name: string,
    token: number,
    requestId: string | undefined,
    { at, width }: Decision,
    how: string,
  ): Granted | undefined {
    const { last } = this.#of(name);
    const isHis = last?.token === token && last.requestId === requestId;
    const isLive = isHis && last.ending === undefined && last.until > at - width - ROUNDING_MS;
    this.#holds(15, isLive || width === Infinity, () => `${name}: the lease of token ${token} is ${how}`);
    return isHis ? last : undefined;
  }

  /** An acquire is answered. @param at by the clock of the backend. */
  acquireAnswered({ name, requestId, force }: Message, row: LockRow, asked: Decision, at: number): void {
    const book = this.#of(name);
    const { last } = book;
    if (row.requestId === requestId && row.state === 'running') {
      this.#holds(12, this.of(name, row.token)?.requestId === requestId, () => {
        return `${name}: token ${row.token} is said to be granted, and is not`;
      });
      return;
    }
    if (asked.width === Infinity || book.changedAt >= asked.at) return;
    if (last?.isForgotten && last.ending === undefined) return;
    // Nothing has changed since it was asked for.
    const width = asked.width + ROUNDING_MS;
    const isLive = last !== undefined && isLiveAt(last, asked.at - width);
    const held = heldUntil(book);
    const isHeld = held > asked.at - width && force !== true;
    this.#holds(15, isLive || isHeld, () => `${name}: it is free, and was not granted`);
    const most = Math.max(width, LATER_MS + ROUNDING_MS);
    if (isLive) {
      this.#holds(11, row.leaseLeft <= last.until - asked.at + most, () => {
        return `${name}: ${row.leaseLeft} ms are said to be left, not ${last.until - asked.at}`;
      });
      return;
    }
    this.#holds(14, (row.state === 'done') === book.hold?.isDone, () => {
      return `${name}: a hold is reported for a round ${row.state}`;
    });
    this.#holds(14, row.holdLeft <= held - asked.at + most, () => {
      return `${name}: held for ${row.holdLeft} ms, not ${held - asked.at}`;
    });
    this.#holds(14, held <= at + width || row.holdLeft > 0, () => {
      return `${name}: the hold is said to be over ${held - at} ms before its end`;
    });
  }

  /** An extension or a release is answered. */
  leaseAnswered(message: Message, isDone: boolean, { width }: Decision, at: number): void {
    const { name, token, requestId, step, as: state, confirms } = message;
    const { last } = this.#of(name);
    const isHis = last?.token === token && last?.requestId === requestId && !last?.isForgotten;
    if (isDone) {
      this.#holds(15, this.of(name, token as number) !== undefined, () => {
        return `${name}: the ${step} of token ${token} is said to be done, and it was never granted`;
      });
      return;
    }
    if (width === Infinity || !isHis || last === undefined) return;
    const isRepeated =
      step === 'release' && last.ending?.state === state && last.ending?.confirms === confirms;
    this.#holds(15, !isRepeated && !isLiveAt(last, at), () => {
      return `${name}: the ${step} of token ${token} was answered false`;
    });
  }

  /** The backend has lost all its data. @param at by its clock. */
  forgotten(at: number): void {
    this.clockSet(at, 0);
    for (const book of this.#names.values()) {
      book.hold = undefined;
      book.isLost = true;
    }
  }

  /**
   * The clock of the backend was set: no holder can know when its lease ends, until it is told.
   *
   * @param at by that clock. @param byMs how far forward.
   */
  clockSet(at: number, byMs: number): void {
    for (const book of this.#names.values()) book.changedAt = at;
    for (const lease of this.#granted.values()) {
      lease.isForgotten = true;
      lease.countedUntil += byMs;
    }
  }

  #holds(rule: 11 | 12 | 14 | 15, condition: boolean, message: () => string): void {
    this.#referee.holds(rule, condition, message);
  }

  #of(name: string): Name {
    let book = this.#names.get(name);
    if (book === undefined) {
      book = {
        highestToken: 0,
        isLost: false,
        granted: 0,
        last: undefined,
        hold: undefined,
        changedAt: Number.NEGATIVE_INFINITY,
      };
      this.#names.set(name, book);
    }
    return book;
  }
}

function heldUntil({ hold }: Name): number {
  return hold?.until ?? 0;
}

function isHeldAt(hold: Hold | undefined, at: number): boolean {
  return hold !== undefined && hold.until > at;
}

function isLiveAt({ ending, until, isForgotten }: Granted, at: number): boolean {
  return ending === undefined && until > at && !isForgotten;
}

/**
 * Tokens are greater than that: than the last one, unless it was lost and the clock set back to before it. Then they are as great as the
 * instance knows the clock for certain.
 */
function leastToken({ highestToken, isLost }: Name, { at, width }: Decision): number {
  const isBehind = isLost && highestToken > at * 1000;
  return isBehind ? (at - width - ROUNDING_MS) * 1000 : highestToken;
}
