import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { LockBackend, LockRow } from '../../../src/lock/lock-backend.ts';
import {
  acquired,
  type BackendRecord,
  extended,
  forceReleased,
  released,
  rowOf,
} from '../../../src/lock/record.ts';
import { expectUnpolluted, hostileJson } from './support/hostile.ts';
import { answered, lockOf } from './support/locks.ts';
import { runs } from './support/runs.ts';

// Edited records, in a backend that keeps them as JSON and validates them no more than our example
// of an adapter does.

afterEach(expectUnpolluted);

const WALL = Date.UTC(2026, 10, 20, 12);
const AT = 1e9;
const NAME = 'n';

class JsonBackend implements LockBackend {
  text: string;
  at: number = AT;

  constructor(text: string) {
    this.text = text;
  }

  async acquire(...[request]: Parameters<LockBackend['acquire']>): ReturnType<LockBackend['acquire']> {
    return this.#put(acquired(this.#record(), request, this.#now())) as LockRow;
  }

  async extend(...[lease, leaseFor]: Parameters<LockBackend['extend']>): Promise<boolean> {
    return this.#put(extended(this.#record(), lease, leaseFor, this.at)) !== undefined;
  }

  async release(...[lease, ending]: Parameters<LockBackend['release']>): Promise<boolean> {
    return this.#put(released(this.#record(), lease, ending, this.at)) !== undefined;
  }

  async forceRelease(_: string, token: number): Promise<boolean> {
    return this.#put(forceReleased(this.#record(), token, this.at)) !== undefined;
  }

  async find(): ReturnType<LockBackend['find']> {
    const record = this.#record();
    return record && rowOf(NAME, record, this.#now());
  }

  async list(): ReturnType<LockBackend['list']> {
    const row = await this.find();
    return row === undefined ? [] : [row];
  }

  #now(): { at: number; wall: number } {
    return { at: this.at, wall: WALL + this.at - AT };
  }

  #record(): BackendRecord | undefined {
    return (JSON.parse(this.text) as BackendRecord | null) ?? undefined;
  }

  #put(record: BackendRecord | undefined): LockRow | undefined {
    if (record === undefined) return undefined;
    this.text = JSON.stringify(record);
    return rowOf(NAME, record, this.#now());
  }
}

const sound: BackendRecord = {
  token: WALL * 1000,
  owner: 'o',
  requestId: 'r',
  host: 'h',
  state: 'running',
  tookOver: false,
  leaseUntil: AT + 5000,
  notBefore: AT - 1000,
  acquiredAt: AT - 1000,
  finishedAt: null,
  lastError: null,
};
const done: BackendRecord = {
  ...sound,
  state: 'done',
  leaseUntil: AT - 10,
  notBefore: AT + 5000,
  finishedAt: AT - 10,
};

const change = fc.dictionary(fc.constantFrom(...Object.keys(sound), '__proto__'), hostileJson, {
  minKeys: 1,
  maxKeys: 3,
});
const edited = fc
  .tuple(fc.constantFrom(sound, done), change)
  .map(([record, fields]) => ({ ...record, ...fields }) as BackendRecord);

const YEAR = 366 * 86_400_000;

/** One that is not counts as none. */
const isBelievable = (token: number): boolean =>
  Number.isSafeInteger(token) && token >= 0 && token <= (WALL + YEAR) * 1000;

/** Its lease is live, and no field is one that a lock never writes. A second definition, independent of the code. */
function isBelievablyLive(record: BackendRecord): boolean {
  const { token, owner, requestId, state, leaseUntil, notBefore, acquiredAt, finishedAt } = record;
  const areTexts = [owner, requestId].every((text) => typeof text === 'string');
  const instants = [leaseUntil, notBefore, acquiredAt, finishedAt ?? AT];
  const areInstants = instants.every((one) => Number.isFinite(one) && one <= AT + YEAR);
  if (!isBelievable(token) || !areTexts || !areInstants) return false;
  return state === 'running' && leaseUntil > AT && acquiredAt <= AT + 60_000;
}

describe('a record that was edited by hand', () => {
  it('gives no second lease, only growing tokens, and answers or rejects with the reason', async () => {
    let acquires = 0;
    await fc.assert(
      fc.asyncProperty(edited, fc.boolean(), async (record, force) => {
        const engine = new JsonBackend(JSON.stringify(record));
        const lock = lockOf(engine);
        await answered(lock.inspect(NAME));
        await answered(lock.list());
        const unknown = { name: NAME, requestId: 'unknown', token: 1 };
        if (record.requestId !== 'unknown') expect(await lock.extend(unknown)).toBe(false);
        const answer = await answered(lock.acquire({ name: NAME, requestId: 'mine', leaseFor: 1000, force }));
        if (answer === undefined) {
          expect(engine.text).toBe(JSON.stringify(record)); // nothing was written
          return;
        }
        if (answer.kind !== 'acquired') {
          expect(answer.retryAfter).toBeGreaterThan(0);
          expect(Number.isFinite(answer.retryAfter)).toBe(true);
          return;
        }
        acquires += 1;
        expect(isBelievablyLive(record)).toBe(false);
        const { lease } = answer;
        expect(Number.isSafeInteger(lease.token)).toBe(true);
        if (isBelievable(record.token)) expect(lease.token).toBeGreaterThan(record.token);
        expect((await lock.acquire({ name: NAME, force: true })).kind).toBe('held');
        expect(await lock.extend(lease, 1000)).toBe(true);
        expect(await lock.release(lease, { as: 'done', holdFor: 0 })).toBe(true);
        const next = await answered(lock.acquire({ name: NAME }));
        if (next?.kind === 'acquired') expect(next.lease.token).toBeGreaterThan(lease.token);
        else expect(lease.token).toBe(Number.MAX_SAFE_INTEGER); // the last one
      }),
      runs(2000),
    );
    expect(acquires).toBeGreaterThan(0);
  });
});
