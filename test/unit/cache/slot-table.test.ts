import { describe, expect, it } from 'vitest';
import { KeyedEntry } from '../../../src/cache/keyed-entry.ts';
import type { Bound } from '../../../src/cache/lru.ts';
import { SlotTable } from '../../../src/cache/slot-table.ts';
import { sharedOf } from '../../../src/engine/entry.ts';
import type { ResolvedOptions } from '../../../src/options/resolve-options.ts';

type Sleeper = KeyedEntry<string, string>;

const LIMIT = 90_000;
const OFFSET = Date.UTC(2026, 0, 1);

/** A shelf that tells what it has told of rows and keys. */
function make({ bound = { max: 3 } as Bound, isShared = false, keepsKeys = false } = {}) {
  const told: string[] = [];
  const store = isShared ? {} : undefined; // it is not asked
  const policy = { maxStalenessMs: LIMIT, random: Math.random, store } as unknown as ResolvedOptions;
  const shelf = new SlotTable<string, string>(policy, bound, keepsKeys, {
    freed: (row) => void told.push(`row ${row}`),
    gone: (id) => void told.push(`key ${String(id)}`),
  });
  return { shelf, told };
}

/** What is known of a key after a load of 50 ms that ended at the instant 1000, due at 6000. */
function entryOf(id: string, change: (entry: Sleeper) => void = () => {}): Sleeper {
  const entry: Sleeper = new KeyedEntry<string, string>(id, id, 0);
  const endedAt = OFFSET + 1000;
  Object.assign(entry, { value: `v${id}`, isLoaded: true, loadedAt: 1000, dueAt: 6000, clockOffset: OFFSET });
  Object.assign(entry, { nextExecuteTime: OFFSET + 6000, scheduledFor: OFFSET + 6000, isScheduled: true });
  entry.maxStalenessMs = LIMIT;
  entry.last = {
    startedAt: endedAt - 50,
    endedAt,
    since: endedAt,
    now: endedAt,
    dueAt: undefined,
    outcome: 'loaded',
    result: entry.value,
    headers: undefined,
    random: Math.random,
  };
  change(entry);
  return entry;
}

/** All that has to be the same after a sleep. The promise is another one, of the same value. */
/** A clock at that instant. */
const at = (instant: number) => ({ instant });

const memory = ({ promise: _, ...rest }: Sleeper): object => rest;

function sleeps(shelf: SlotTable<string, string>, entry: Sleeper): number {
  const row = shelf.place(entry) as number;
  shelf.sleep(row, entry);
  return row;
}

describe('an entry that goes to sleep wakes as it was', () => {
  const said = (change: object) => (entry: Sleeper) => void Object.assign(entry, change);
  const last = (change: object) => (entry: Sleeper) => {
    entry.last = { ...(entry.last as NonNullable<Sleeper['last']>), ...change };
  };
  const never = { dueAt: Infinity, nextExecuteTime: Infinity, scheduledFor: undefined };
  const invalidated = { isInvalidated: true, dueAt: -Infinity, isScheduled: false };
  const changes: [string, (entry: Sleeper) => void][] = [
    ['plain', () => {}],
    ['never due', said(never)],
    ['invalidated', said(invalidated)],
    ['with tags', said({ tags: ['nl'] })],
    ['with an age limit of its own', said({ maxStalenessMs: 5000, maxStalenessOverrideMs: 5000 })],
    ['that was told the usual age limit', said({ maxStalenessOverrideMs: LIMIT })],
    ['with another age limit', said({ maxStalenessMs: 4000 })],
    ['whose load said when it is due', said({ isScheduled: false, scheduledFor: OFFSET + 7000 })],
    ['whose schedule said another time', said({ scheduledFor: OFFSET + 7000 })],
    ['whose value was kept', last({ outcome: 'kept' })],
    ['whose source sent headers', last({ headers: { etag: 'x' } })],
    ['whose schedule goes by an earlier reading', last({ since: OFFSET + 500 })],
    ['that was due at a named time', last({ dueAt: OFFSET + 900 })],
  ];
  it.each(changes)('%s', (_, change) => {
    const { shelf } = make();
    const others = [
      sleeps(shelf, entryOf('before')),
      sleeps(shelf, entryOf('tagged', said({ tags: ['t'] }))),
    ];
    const entry = entryOf('a', change);
    const woken = shelf.wake('a', sleeps(shelf, entry), 0);
    expect(memory(woken)).toEqual(memory(entry));
    expect(memory(shelf.wake('before', others[0] as number, 0))).toEqual(memory(entryOf('before')));
    expect(shelf.tags(others[0] as number)).toBeUndefined();
  });

  it.each<[string, (entry: Sleeper) => void]>([
    ['is not', () => {}],
    ['has the version 7', (entry) => void Object.assign(sharedOf(entry), { version: 7 })],
    [
      'is newer than version 7',
      (entry) => void Object.assign(sharedOf(entry), { version: 7, isLocal: true }),
    ],
    ['is new to it', (entry) => void Object.assign(sharedOf(entry), { isLocal: true })],
  ])('in a cluster whose store it %s', (_, change) => {
    const { shelf } = make({ isShared: true });
    const entry = entryOf('a', change);
    expect(memory(shelf.wake('a', sleeps(shelf, entry), 0))).toEqual(memory(entry));
  });

  it('with its size', () => {
    const { shelf } = make({ bound: { maxSize: 10 } });
    const entry = entryOf('a', said({ size: 3 }));
    expect(shelf.wake('a', sleeps(shelf, entry), 0).size).toBe(3);
  });
});

describe('a read needs nothing but the value', () => {
  it('before it is due, if it was judged in the present epoch', () => {
    const { shelf } = make();
    const row = sleeps(shelf, entryOf('a'));
    expect([5999, 6000].map((now) => shelf.isFresh(row, at(now), 0))).toEqual([true, false]);
    expect(shelf.tags(row)).toBeUndefined();
    expect(shelf.isFresh(row, at(5999), 1)).toBe(false);
    shelf.judge(row, 1);
    expect([shelf.isFresh(row, at(5999), 1), shelf.validatedEpoch(row, 3)]).toEqual([true, 1]);
    shelf.invalidate(row);
    expect(shelf.isFresh(row, at(5999), 1)).toBe(false);
  });

  it('also after 2 ** 32 epochs', () => {
    const { shelf } = make();
    const row = sleeps(shelf, entryOf('a'));
    const epoch = 2 ** 32 + 5;
    shelf.judge(row, epoch);
    expect([shelf.isFresh(row, at(0), epoch), shelf.validatedEpoch(row, epoch + 2)]).toEqual([true, epoch]);
  });
});

describe('rows', () => {
  it('are found by their keys; a key without one has none', () => {
    const { shelf } = make();
    const rows = ['a', 'b', 'c'].map((id) => sleeps(shelf, entryOf(id)));
    expect(new Set(rows).size).toBe(3);
    expect(['a', 'b', 'c', 'd'].map((id) => shelf.use(id))).toEqual([...rows, -1]);
    expect(['a', 'd'].map((id) => shelf.find(id))).toEqual([rows[0], undefined]);
  });

  it('that are given up are taken again, with nothing left of what was there', () => {
    const { shelf, told } = make();
    const row = sleeps(
      shelf,
      entryOf('a', (entry) => void Object.assign(entry, { tags: ['nl'] })),
    );
    shelf.delete('a');
    expect([shelf.value(row), shelf.tags(row), told]).toEqual([undefined, undefined, ['row 0', 'key a']]);
    expect(shelf.place(entryOf('b'))).toBe(row);
    expect(shelf.tags(row)).toBeUndefined();
  });

  it('are as many as need be, each with its own', () => {
    const { shelf } = make({ bound: { max: 200 } });
    const ids = Array.from({ length: 500 }, (_, index) => `${index}`);
    for (const [index, id] of ids.entries())
      sleeps(
        shelf,
        entryOf(id, (entry) => void Object.assign(entry, { dueAt: 6000 + index, loadedAt: index })),
      );
    const held = ids.slice(300);
    expect([...shelf.rows()].map(([id]) => id)).toEqual(held);
    const woken = held.map((id) => shelf.wake(id, shelf.use(id), 0));
    expect(woken.map(({ dueAt }) => dueAt - 6000)).toEqual(held.map(Number));
    expect(woken.map(({ loadedAt }) => loadedAt)).toEqual(held.map(Number));
  });

  it('of values with sizes change when the size does, which is no loss of the place', () => {
    const { shelf, told } = make({ bound: { maxSize: 10 } });
    const [a] = ['a', 'b'].map((id) => sleeps(shelf, entryOf(id)));
    expect(shelf.place(entryOf('a'))).toBe(a);
    expect([...shelf.rows()].map(([id]) => id)).toEqual(['a', 'b']);
    const larger = shelf.place(entryOf('a', (entry) => void Object.assign(entry, { size: 2 })));
    expect([larger, told]).toEqual([2, ['row 0']]);
    expect([...shelf.rows()].map(([id]) => id)).toEqual(['b', 'a']);
    expect(shelf.place(entryOf('c', (entry) => void Object.assign(entry, { size: 11 })))).toBeUndefined();
  });
});
