import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { edited, type Instant, rowOf, type StoredRecord } from '../../../src/records/edited.ts';
import type { Answer, Edit, Records } from '../../../src/records/records.ts';
import { expectUnpolluted, hostileJson } from './support/hostile.ts';
import { answered, lockOf } from './support/locks.ts';
import { runs } from './support/runs.ts';

// Edited records, in a backend that keeps them as JSON and validates them no more than our example
// of an adapter does.

afterEach(expectUnpolluted);

const WALL = Date.UTC(2026, 10, 20, 12);
const AT = 1e9;
const NOW: Instant = { at: AT, wall: WALL };
const NAME = 'n';

class JsonRecords implements Records {
  readonly mostEdits = 1;
  readonly sharesCommands = false;
  text: string;

  constructor(text: string) {
    this.text = text;
  }

  async apply([edit]: readonly Edit[]): ReturnType<Records['apply']> {
    const { next, isDone } = edited(this.#record(), edit as Edit, NOW);
    if (edit?.op !== 'read') this.text = JSON.stringify(next);
    const answer: Answer = { isDone, row: next && rowOf(next, NOW, (text) => text) };
    return { now: NOW.wall, answers: [answer] };
  }

  async list(): ReturnType<Records['list']> {
    const record = this.#record();
    return { now: NOW.wall, rows: record ? [[`lock/${NAME}`, rowOf(record, NOW, (text) => text)]] : [] };
  }

  async editions(): ReturnType<Records['editions']> {
    return [];
  }

  #record(): StoredRecord | undefined {
    return (JSON.parse(this.text) as StoredRecord | null) ?? undefined;
  }
}

const sound: StoredRecord = {
  token: WALL * 1000,
  id: 'r',
  phase: 'leased',
  at: AT - 1000,
  changedAt: AT - 1000,
  until: AT + 5000,
  text: '{"owner":"o","host":"h"}',
  note: '',
  older: [],
};
const done: StoredRecord = {
  ...sound,
  phase: 'held',
  changedAt: AT - 10,
  note: '{"state":"done"}',
};

const change = fc.dictionary(fc.constantFrom(...Object.keys(sound), '__proto__'), hostileJson, {
  minKeys: 1,
  maxKeys: 3,
});
const byHand = fc
  .tuple(fc.constantFrom(sound, done), change)
  .map(([record, fields]) => ({ ...record, ...fields }) as StoredRecord);

const YEAR = 366 * 86_400_000;

/** One that is not counts as none. */
const isBelievable = (token: number): boolean =>
  Number.isSafeInteger(token) && token >= 0 && token <= (WALL + YEAR) * 1000;

/** Its lease is live, and no field is one that a lock never writes. A second definition, independent of the code. */
function isBelievablyLive({ token, id, phase, at, changedAt, until }: StoredRecord): boolean {
  const areInstants = [at, changedAt, until].every((one) => Number.isFinite(one) && one <= AT + YEAR);
  if (!isBelievable(token) || typeof id !== 'string' || !areInstants) return false;
  return ['leased', 'seized'].includes(phase) && until > AT && Math.max(at, changedAt) <= AT + 60_000;
}

it('a record that was edited by hand gives no second lease, only growing tokens, and answers or rejects with the reason', async () => {
  let acquires = 0;
  await fc.assert(
    fc.asyncProperty(byHand, fc.boolean(), async (record, force) => {
      const engine = new JsonRecords(JSON.stringify(record));
      const lock = lockOf(engine);
      await answered(lock.inspect(NAME));
      await answered(lock.list());
      const unknown = { name: NAME, requestId: 'unknown', token: 1 };
      if (record.id !== 'unknown') expect(await lock.extend(unknown)).toBe(false);
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
