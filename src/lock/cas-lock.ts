import type { ClockSpan } from '../cas/date-clock.ts';
import type { CasRecords, RecordKey } from '../cas/records.ts';
import { type Decision, SwapLoop } from '../cas/swap-loop.ts';
import { isPlausibleToken } from '../cluster/plausible.ts';
import type { LockBackend, LockRow } from './lock-backend.ts';
import { REPLACED } from './lock-backend.ts';
import {
  acquired,
  type BackendRecord,
  damageOf,
  extended,
  forceReleased,
  type Instant,
  released,
  rowOf,
} from './record.ts';

/**
 * The steps of a lock on texts of a backend that computes nothing: the record is read, the step is taken here by the
 * backend's clock, and the text is replaced if it is still the one that was read.
 *
 * Of the clock only a span is known. A lease ends when it is over for certain: it is written as long as needed for the
 * clock to be at the latest moment, and judged as if it were at the earliest.
 */
export class CasLock implements LockBackend {
  readonly #records: CasRecords;
  readonly #loop: SwapLoop;
  readonly #retentionMs: number;

  constructor(records: CasRecords, retentionMs: number) {
    this.#records = records;
    this.#loop = new SwapLoop(records);
    this.#retentionMs = retentionMs;
  }

  async acquire(request: Parameters<LockBackend['acquire']>[0]): ReturnType<LockBackend['acquire']> {
    const { name, requestId, leaseFor } = request;
    return this.#loop.run(keyOf(name), (text, span): Decision<LockRow> => {
      const present = recordIn(text);
      const record: CasRecord = acquired(
        present,
        { ...request, leaseFor: leaseFor + widthOf(span) },
        instantOf(span),
      );
      if (record === present) return { answer: rowAt(name, record, span, record.requestId === requestId) };
      const isUnreadable = present === undefined && text !== undefined;
      const { next, answer } = this.#written(
        isUnreadable ? { ...record, lastError: `${REPLACED}text` } : record,
        span,
      );
      return { next, answer: rowAt(name, answer, span, true) };
    });
  }

  async extend(...[lease, leaseFor]: Parameters<LockBackend['extend']>): Promise<boolean> {
    return this.#change(lease.name, (record, at, width) => extended(record, lease, leaseFor + width, at));
  }

  async release(...[lease, ending]: Parameters<LockBackend['release']>): Promise<boolean> {
    return this.#change(lease.name, (record, at, width) => {
      const error = ending.error?.slice(0, MAX_ERROR_LENGTH);
      return released(
        record,
        lease,
        { ...ending, error, holdFor: ending.holdFor && ending.holdFor + width },
        at,
      );
    });
  }

  async forceRelease(name: string, token: number): Promise<boolean> {
    return this.#change(name, (record, at) => forceReleased(record, token, at));
  }

  async find(name: string): ReturnType<LockBackend['find']> {
    return this.#rowOf(name, await this.#loop.read(keyOf(name)));
  }

  async list(prefix: string, limit: number): ReturnType<LockBackend['list']> {
    const found = await this.#records.ofPartitions(LOCK + prefix, ONLY, limit);
    return found
      .map(({ key, text }) => this.#rowOf(key.partition.slice(LOCK.length), text))
      .filter((row) => row !== undefined)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .slice(0, limit);
  }

  #rowOf(name: string, text: string | undefined): LockRow | undefined {
    const record = recordIn(text);
    if (record === undefined) return undefined;
    const span = this.#records.span();
    return damageOf(record, instantOf(span)) === undefined ? rowAt(name, record, span, false) : undefined;
  }

  /** @returns whether the step applied. */
  async #change(
    name: string,
    step: (record: BackendRecord | undefined, at: number, width: number) => BackendRecord | undefined,
  ): Promise<boolean> {
    const record = await this.#loop.run(keyOf(name), (text, span): Decision<BackendRecord | undefined> => {
      const present = recordIn(text);
      const isReadable = present !== undefined && damageOf(present, instantOf(span)) === undefined;
      const next = isReadable ? step(present, span.earliest, widthOf(span)) : undefined;
      return next === undefined || next === present ? { answer: next } : this.#written(next, span);
    });
    return record !== undefined;
  }

  #written(next: BackendRecord, { earliest, latest }: ClockSpan): Decision<CasRecord> {
    // Without a hold the name is free at once, whatever others know of the clock.
    const notBefore = next.notBefore > earliest ? next.notBefore : 0;
    const end = Math.max(next.leaseUntil, notBefore);
    const record = { ...next, notBefore, longest: Math.max(0, end - latest) };
    const keepForMs = end - earliest + Math.min(this.#retentionMs, next.keepFor ?? Infinity);
    return { next: { text: JSON.stringify(record), keepForMs }, answer: record };
  }
}

interface CasRecord extends BackendRecord {
  /**
   * How long the lease or the hold was when it was written, in milliseconds: by another client's knowledge of the clock
   * more may seem to be left. @default Infinity
   */
  readonly longest?: number | undefined;
}

const LOCK = 'lock/';
const ONLY = '-';

/** Longer error texts are cut. In UTF-16 code units. */
const MAX_ERROR_LENGTH = 16_000;

/** In milliseconds: an end that is uncertain by less is awaited in one step. */
const SOON_MS = 10;

function keyOf(name: string): RecordKey {
  return { partition: LOCK + name, sort: ONLY };
}

function widthOf({ earliest, latest }: ClockSpan): number {
  return latest - earliest;
}

function instantOf({ earliest, latest }: ClockSpan): Instant {
  return { at: earliest, wall: (earliest + latest) / 2 };
}

/**
 * The holder of a lease gets the time that is left for certain. All others get that too, and while the end is uncertain,
 * half of the time after which it is over for certain: so they ask again a handful of times, not until then.
 */
function rowAt(name: string, record: CasRecord, span: ClockSpan, isHolder: boolean): LockRow {
  const { wall } = instantOf(span);
  const { longest = Infinity, ...fields } = record;
  const early = rowOf(name, fields, { at: span.earliest, wall });
  const late = rowOf(name, fields, { at: span.latest, wall });
  const left = (least: number, most: number): number =>
    Math.min(longest, Math.max(least, most / 2, Math.min(most, SOON_MS)));
  return {
    ...late,
    leaseLeft: isHolder ? late.leaseLeft : left(late.leaseLeft, early.leaseLeft),
    holdLeft: left(late.holdLeft, early.holdLeft),
  };
}

/** @returns `undefined` if there is none, or it is not in the format of this adapter. */
function recordIn(text: string | undefined): CasRecord | undefined {
  try {
    const record: unknown = text === undefined ? undefined : JSON.parse(text);
    if (typeof record !== 'object' || record === null) return undefined;
    const { host, lastError, longest, tookOver, token } = record as CasRecord;
    return {
      ...(record as BackendRecord),
      longest: typeof longest === 'number' && longest > 0 ? longest : undefined,
      token: isPlausibleToken(token, Infinity) ? token : Number.NaN,
      host: typeof host === 'string' ? host : '',
      tookOver: tookOver === true,
      lastError: typeof lastError === 'string' ? lastError : null,
    };
  } catch {
    return undefined;
  }
}
