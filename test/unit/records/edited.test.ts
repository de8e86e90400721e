import { describe, expect, it } from 'vitest';
import { LONGEST_LEASE_MS } from '../../../src/cluster/longest-lease.ts';
import {
  edited,
  foundBy,
  type Instant,
  isExpired,
  rowOf,
  type StoredRecord,
} from '../../../src/records/edited.ts';
import type { Amend, Claim, Edit, Put } from '../../../src/records/records.ts';

const WALL = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

/** Both clocks of a backend, so long after the beginning. */
const at = (ms: number): Instant => ({ at: 1000 + ms, wall: WALL + ms });

const claim = (more: Partial<Claim> = {}): Claim => ({
  op: 'claim',
  name: 'a',
  id: 'one',
  text: 'holder',
  forMs: 100,
  force: false,
  ...more,
});
const put = (more: Partial<Put> = {}): Put => ({ op: 'put', name: 'a', text: 'text', older: 0, ...more });

/** The record after edits, each some milliseconds after the beginning. */
function made(...steps: readonly (readonly [ms: number, edit: Edit])[]): StoredRecord {
  let record: StoredRecord | undefined;
  for (const [ms, edit] of steps) record = edited(record, edit, at(ms)).next;
  if (record === undefined) throw new Error('there is no record');
  return record;
}

const leased = (): StoredRecord => made([0, claim()]);
const amend = (record: StoredRecord, more: Partial<Amend> = {}): Amend => ({
  op: 'amend',
  name: 'a',
  token: record.token,
  id: record.id,
  forMs: 100,
  ...more,
});
const ended = (record: StoredRecord, more: Partial<Amend> = {}): Amend =>
  amend(record, { phase: 'held', note: 'done', ...more });

describe('claim', () => {
  it('takes a name that is free: its token is the clock in microseconds', () => {
    expect(leased()).toEqual({
      token: WALL * 1000,
      id: 'one',
      phase: 'leased',
      at: 1000,
      changedAt: 1000,
      until: 1100,
      text: 'holder',
      note: '',
      replaced: undefined,
      older: [],
    });
  });

  it('leaves a lease to its holder until it ends, also where it is forced; the holder gets the same one again', () => {
    const record = leased();
    for (const force of [false, true]) {
      expect(edited(record, claim({ id: 'two', force }), at(99))).toEqual({ next: record, isDone: false });
      expect(edited(record, claim({ force }), at(99))).toEqual({ next: record, isDone: true });
    }
    const { next, isDone } = edited(record, claim({ id: 'two' }), at(100));
    expect([isDone, next?.phase, next?.id]).toEqual([true, 'seized', 'two']);
    expect(next?.token).toBeGreaterThan(record.token);
  });

  it('waits for the end of a hold, unless it is forced; nobody is seized then', () => {
    const record = leased();
    const held = made([0, claim()], [10, ended(record, { forMs: 50 })]);
    expect(edited(held, claim(), at(59))).toEqual({ next: held, isDone: false });
    expect(edited(held, claim({ force: true }), at(59)).next).toMatchObject({ phase: 'leased' });
    expect(edited(held, claim(), at(60)).next).toMatchObject({ phase: 'leased', note: '' });
  });

  it('counts a start more than a minute ahead as one before the clock was set back', () => {
    const record = { ...leased(), until: 1000 + 10 * MINUTE };
    expect(edited({ ...record, at: 1000 + MINUTE }, claim({ id: 'two' }), at(0)).isDone).toBe(false);
    expect(edited({ ...record, at: 1001 + MINUTE }, claim({ id: 'two' }), at(0)).isDone).toBe(true);
  });

  it.each<[keyof StoredRecord, Partial<StoredRecord>]>([
    ['token', { token: WALL * 1000 + LONGEST_LEASE_MS * 1000 + 1001 }],
    ['token', { token: Number.NaN }],
    ['token', { token: -1 }],
    ['phase', { phase: 'abc' as never }],
    ['until', { until: Number.NaN }],
    ['until', { until: 1000 + LONGEST_LEASE_MS + MINUTE + 2 }],
    ['at', { at: Number.POSITIVE_INFINITY }],
    ['changedAt', { changedAt: Number.NaN }],
    ['id', { id: 7 as never }],
  ])('replaces a record whose %s no edit has written: %j', (field, damage) => {
    const record = { ...leased(), ...damage };
    const { next, isDone } = edited(record, claim({ id: 'two' }), at(1));
    expect([isDone, next?.replaced]).toEqual([true, field]);
    expect(next?.token).toBe((WALL + 1) * 1000);
    expect(edited(record, amend(record), at(1)).isDone).toBe(false);
    expect(rowOf(record, at(1), String)).toMatchObject({ damage: field, left: 0 });
  });

  it('is not made while the snapshot of the name is pinned, not even where it is forced: the answer shows that', () => {
    const snapshot = made([0, put({ pinMs: 100 })]);
    for (const record of [undefined, made([0, claim()], [10, ended(leased(), { forMs: 0 })])]) {
      const forced = claim({ id: 'two', force: true });
      const { next, isDone, shown } = edited(record, forced, at(99), snapshot);
      expect([next, isDone, shown?.token]).toEqual([record, false, snapshot.token]);
      expect(rowOf(shown as StoredRecord, at(99), String)).toMatchObject({ pinnedFor: 1 });
      expect(edited(record, forced, at(100), snapshot).isDone).toBe(true);
      const damaged = { ...snapshot, until: NaN };
      expect(edited(record, forced, at(99), damaged).isDone).toBe(true);
    }
  });

  it('exceeds the token of the snapshot of the name', () => {
    const snapshot = made([0, put({ token: WALL * 1000 + 70_000 })]);
    expect(edited(undefined, claim(), at(1), snapshot).next?.token).toBe(snapshot.token + 1);
  });

  it('exceeds a token that is plausible, also that of a damaged record', () => {
    const ahead = { ...leased(), token: WALL * 1000 + 5_000_000, until: Number.NaN };
    expect(edited(ahead, claim(), at(0)).next?.token).toBe(WALL * 1000 + 5_000_001);
  });
});

describe('amend', () => {
  it('extends a lease from now on, while it lives and the id and the token are those of its holder', () => {
    const record = leased();
    expect(edited(record, amend(record, { forMs: 7 }), at(50))).toEqual({
      next: { ...record, until: 1057, keepMs: undefined },
      isDone: true,
    });
    const refused = { next: record, isDone: false };
    expect(edited(record, amend(record), at(100))).toEqual(refused);
    expect(edited(record, amend(record, { id: 'two' }), at(0))).toEqual(refused);
    expect(edited(record, amend(record, { token: record.token + 1 }), at(0))).toEqual(refused);
    expect(edited(undefined, amend(record), at(0))).toEqual({ next: undefined, isDone: false });
  });

  it('ends a lease once; ended again with the same note it is done, and nothing changes', () => {
    const record = leased();
    const { next } = edited(record, ended(record, { forMs: 5, keepMs: 9 }), at(50));
    expect(next).toEqual({
      ...record,
      phase: 'held',
      note: 'done',
      changedAt: 1050,
      until: 1055,
      keepMs: 9,
    });
    expect(edited(next, ended(record), at(70))).toEqual({ next, isDone: true });
    expect(edited(next, ended(record, { note: 'failed' }), at(70))).toEqual({ next, isDone: false });
    expect(edited(next, amend(record), at(51))).toEqual({ next, isDone: false });
  });

  it('that ends a lease without a result brings back the hold that was there, once', () => {
    const held = made([0, claim()], [10, ended(leased(), { forMs: 50 })]);
    const lease = edited(held, claim({ id: 'two', force: true }), at(20)).next as StoredRecord;
    const unused = ended(lease, { note: 'abandoned', forMs: 0, restores: true });
    const { next, isDone } = edited(lease, unused, at(30));
    const { token, id } = lease;
    const { phase, note, until } = held;
    expect([isDone, next]).toMatchObject([
      true,
      { token: held.token, phase, note, until, unused: { token, id } },
    ]);
    expect(edited(next, unused, at(31))).toEqual({ next, isDone: true });
    expect(edited(next, amend(lease), at(31)).isDone).toBe(false);
    expect(edited(next, claim({ id: 'three' }), at(59)).isDone).toBe(false);
    expect(edited(next, claim({ id: 'three', force: true }), at(20)).next?.token).toBe(token + 1);
    const free = made([0, claim()]);
    const end = ended(free, { note: 'abandoned', forMs: 0, restores: true });
    expect(edited(free, end, at(1)).next).toMatchObject({
      token: free.token,
      note: 'abandoned',
      until: 1001,
    });
  });

  it('of a person, without an id, applies in any phase of that token', () => {
    const record = leased();
    const freed = ended(record, { id: undefined, note: 'released', forMs: 0 });
    for (const before of [record, made([0, claim()], [10, ended(record)])]) {
      const { next, isDone } = edited(before, freed, at(500));
      expect([isDone, next?.phase, next?.note, next?.until]).toEqual([true, 'held', 'released', 1500]);
    }
    expect(edited(record, { ...freed, token: 1 }, at(0)).isDone).toBe(false);
  });
});

describe('put', () => {
  it('keeps as many editions as it says, and none that is not older', () => {
    const record = made(
      [0, put({ token: 1, text: 'first', older: 2 })],
      [1, put({ token: 2, text: 'second', older: 2 })],
      [2, put({ token: 2, text: 'again', older: 2 })],
      [3, put({ token: 3, text: 'third', older: 2 })],
    );
    expect(record).toMatchObject({ token: 3, text: 'third', phase: 'held', id: '' });
    expect(record.older).toEqual([
      { token: 2, at: 1002, text: 'again' },
      { token: 1, at: 1000, text: 'first' },
    ]);
    expect(edited(record, put({ token: 4, older: 1 }), at(4)).next?.older).toEqual([
      { token: 3, at: 1003, text: 'third' },
    ]);
  });

  it('is refused by a greater token, unless that is the one it may pass over, or is not plausible', () => {
    const record = made([0, put({ token: 5 })]);
    expect(edited(record, put({ token: 4 }), at(1))).toEqual({ next: record, isDone: false });
    expect(edited(record, put({ token: 4, over: 5 }), at(1))).toMatchObject({
      isDone: true,
      next: { token: 4 },
    });
    const ahead = { ...record, token: Number.MAX_SAFE_INTEGER };
    expect(edited(ahead, put({ token: 4 }), at(1))).toMatchObject({ isDone: true, next: { token: 4 } });
  });

  it('of the same token and text leaves the age as it is, and of another text or duration not', () => {
    const record = made([0, put({ token: 5, keepMs: 50 })]);
    expect(edited(record, put({ token: 5, keepMs: 50 }), at(9))).toEqual({ next: record, isDone: true });
    for (const more of [{ keepMs: undefined }, { keepMs: 50, text: 'mended' }, { keepMs: 50, token: 6 }])
      expect(edited(record, put({ token: 5, ...more }), at(9)).next).toMatchObject({ at: 1009 });
  });

  it('without a token has the next one by the clock', () => {
    const record = made([0, put()]);
    expect(record.token).toBe(WALL * 1000);
    expect(edited(record, put(), at(0)).next?.token).toBe(WALL * 1000 + 1);
    expect(edited(record, put(), at(5)).next?.token).toBe((WALL + 5) * 1000);
  });

  it('in the place of an expected edition is done once, and refused where there is another one', () => {
    const first = edited(undefined, put({ expected: 0 }), at(0));
    expect(first).toMatchObject({ isDone: true, next: { token: WALL * 1000 } });
    const record = first.next as StoredRecord;
    const again = [put({ expected: 0 }), put({ expected: 7 })]; // its answer was lost
    for (const edit of again) expect(edited(record, edit, at(5))).toEqual({ next: record, isDone: true });
    const others = [put({ expected: 0, text: 'other' }), put({ expected: record.token - 1, text: 'other' })];
    for (const edit of others) expect(edited(record, edit, at(5))).toEqual({ next: record, isDone: false });
    expect(edited(undefined, put({ expected: record.token }), at(5)).isDone).toBe(false);
    const next = edited(record, put({ expected: record.token }), at(5));
    expect(next).toMatchObject({ isDone: true, next: { token: (WALL + 5) * 1000 } });
  });

  it('in the place of a damaged edition expects none, or the token that it shows', () => {
    for (const damage of [{ until: NaN }, { token: NaN }, { token: Number.MAX_SAFE_INTEGER }]) {
      const record = { ...made([0, put()]), ...damage };
      expect(edited(record, put({ expected: 0 }), at(5)).isDone).toBe(true);
      expect(edited(record, put({ expected: record.token }), at(5)).isDone).toBe(!Number.isNaN(record.token));
      expect(edited(record, put({ expected: 7 }), at(5)).isDone).toBe(false);
    }
  });

  it('that is brief deletes the others, and does not become an older one', () => {
    const record = made([0, put({ older: 2 })], [1, put({ older: 2, keepMs: 50 })]);
    expect(record.older).toEqual([]);
    expect(edited(record, put({ older: 2 }), at(2)).next?.older).toEqual([]);
    expect([isExpired(record, 1050), isExpired(record, 1051)]).toEqual([false, true]);
  });
});

describe('a change of a person', () => {
  const impose = { op: 'impose', name: 'a', id: 'p', text: 'ann', note: 'done', forMs: 40 } as const;

  it('is put under a token that is greater than those of both parts', () => {
    const record = made([0, put({ token: 5 })]);
    const lock = { ...leased(), token: WALL * 1000 + 70_000 };
    const { next } = edited(record, put({ id: 'p' }), at(1), lock);
    expect(next).toMatchObject({ token: lock.token + 1, id: 'p' });
    const damaged = { ...lock, token: Number.MAX_SAFE_INTEGER };
    expect(edited(record, put({ id: 'p' }), at(1), damaged).next?.token).toBe((WALL + 1) * 1000);
  });

  it('is made once, also with another text', () => {
    const record = made([0, put({ id: 'p' })]);
    const again = put({ id: 'p', text: 'older by then', expected: 0 });
    expect(edited(record, again, at(9))).toEqual({ next: record, isDone: true });
    expect(edited(record, put({ id: 'q' }), at(9)).next?.older).toHaveLength(0);
  });

  it('spares a version while it is pinned, where it asks for that; a put without a pin ends it', () => {
    const record = made([0, put({ pinMs: 100 })]);
    const mark = put({ id: 'm', sparesPinned: true });
    expect(edited(record, mark, at(99))).toEqual({ next: record, isDone: false });
    expect(edited(record, mark, at(100)).isDone).toBe(true);
    const next = edited(record, put({ id: 'p' }), at(50)).next as StoredRecord;
    expect(edited(next, mark, at(51)).isDone).toBe(true);
    const damaged = { ...record, pinnedUntil: Number.MAX_SAFE_INTEGER };
    expect(edited(damaged, mark, at(1)).isDone).toBe(true);
  });

  it('ends a lease, whoever has it, and holds the name under the token of its snapshot', () => {
    const leased = made([0, claim()]);
    const token = leased.token + 1;
    const snapshot = made([10, put({ token })]);
    const { next, isDone } = edited(leased, impose, at(10), snapshot);
    expect(isDone).toBe(true);
    expect(next).toMatchObject({ token, id: 'p', phase: 'held', text: 'ann', note: 'done', until: 1050 });
    expect(edited(next, amend(leased), at(11)).isDone).toBe(false);
    expect(edited(next, ended(leased), at(11)).isDone).toBe(false);
    expect(edited(next, claim({ id: 'two' }), at(49)).isDone).toBe(false);
    expect(edited(undefined, impose, at(10), snapshot).next).toEqual(next);
  });

  it('changes nothing where the name has its token, or was claimed since', () => {
    const leased = made([0, claim()]);
    for (const token of [leased.token, leased.token - 1])
      expect(edited(leased, impose, at(10), made([10, put({ token })]))).toEqual({
        next: leased,
        isDone: true,
      });
    const damaged = { ...leased, until: NaN };
    expect(edited(damaged, impose, at(10), made([10, put({ token: leased.token })])).next).toMatchObject({
      phase: 'held',
    });
  });
});

describe('read and delete', () => {
  const record = made([0, put({ token: 1, text: 'first', older: 1 })], [5, put({ token: 2, older: 1 })]);

  it('find the present edition, or the one of a token, if it is newer than asked for', () => {
    const read = { op: 'read', name: 'a' } as const;
    expect(foundBy(record, read)).toBe(record);
    expect(foundBy(record, { ...read, newerThan: 1 })).toBe(record);
    expect(foundBy(record, { ...read, newerThan: 2 })).toBeUndefined();
    expect(foundBy(record, { ...read, token: 1 })).toMatchObject({ token: 1, text: 'first', at: 1000 });
    expect(foundBy(record, { ...read, token: 3 })).toBeUndefined();
    expect(foundBy(undefined, read)).toBeUndefined();
    expect(edited(record, read, at(9))).toEqual({ next: record, isDone: true });
    expect(rowOf(record, at(9), String)).toMatchObject({ age: 4, changedAgo: 4, left: 0, damage: undefined });
  });

  it('delete all of them', () => {
    const gone = { op: 'delete', name: 'a' } as const;
    expect(edited(record, gone, at(9))).toEqual({ next: undefined, isDone: true });
    expect(edited(undefined, gone, at(9))).toEqual({ next: undefined, isDone: false });
  });
});
