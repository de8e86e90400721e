import { describe, expect, it } from 'vitest';
import { KeyedEntry } from '../../../src/cache/keyed-entry.ts';
import type { Bound } from '../../../src/cache/lru.ts';
import { SlotColumns } from '../../../src/cache/slot-columns.ts';
import { SlotTable } from '../../../src/cache/slot-table.ts';
import { clusterStateOf } from '../../../src/cluster/cluster-state.ts';
import { MemberCoordinator } from '../../../src/cluster/member-coordinator.ts';
import type { ResolvedOptions } from '../../../src/engine/resolved-options.ts';

type CacheEntry = KeyedEntry<string, string>;

const LIMIT = 90_000;
const OFFSET = Date.UTC(2026, 0, 1);

/** A table, and the calls that its owner got. */
function make({ bound = { max: 3 } as Bound, isShared = false } = {}) {
  const calls: string[] = [];
  const options = { maxStalenessMs: LIMIT, random: Math.random } as unknown as ResolvedOptions;
  const coordinator = isShared ? new MemberCoordinator({} as never) : undefined; // it asks no backend here
  const table = new SlotTable<string, string>(new SlotColumns(options, coordinator), bound, false, {
    freed: (slot) => void calls.push(`slot ${slot}`),
    gone: (id) => void calls.push(`key ${String(id)}`),
  });
  return { table, calls };
}

/** The state of a key after a load of 50 ms that ended at the instant 1000, due at 6000. */
function entryOf(id: string, change: (entry: CacheEntry) => void = () => {}): CacheEntry {
  const entry: CacheEntry = new KeyedEntry<string, string>(id, id, 0);
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
    meta: undefined,
    isLimitScheduled: false,
    random: Math.random,
  };
  change(entry);
  return entry;
}

/** A clock at that instant. */
const at = (instant: number) => ({ instant });

/** All that must be the same after activation. The promise is another one, of the same value. */
const memory = ({ promise: _, ...rest }: CacheEntry): object => rest;

function passivate(table: SlotTable<string, string>, entry: CacheEntry): number {
  const slot = table.place(entry) as number;
  table.columns.passivate(slot, entry);
  return slot;
}

describe('an entry that was passivated is activated as it was', () => {
  const having = (change: object) => (entry: CacheEntry) => void Object.assign(entry, change);
  const last = (change: object) => (entry: CacheEntry) => {
    entry.last = { ...(entry.last as NonNullable<CacheEntry['last']>), ...change };
  };
  const never = { dueAt: Infinity, nextExecuteTime: Infinity, scheduledFor: undefined };
  const invalidated = { isInvalidated: true, dueAt: -Infinity, isScheduled: false };
  const changes: [string, (entry: CacheEntry) => void][] = [
    ['plain', () => {}],
    ['never due', having(never)],
    ['invalidated', having(invalidated)],
    ['with tags', having({ tags: ['nl'] })],
    ['with an age limit of its own', having({ maxStalenessMs: 5000, maxStalenessOverrideMs: 5000 })],
    ['with the usual age limit as its own', having({ maxStalenessOverrideMs: LIMIT })],
    ['with another age limit', having({ maxStalenessMs: 4000 })],
    ['whose load set its due time', having({ isScheduled: false, scheduledFor: OFFSET + 7000 })],
    ['whose schedule returned another time', having({ scheduledFor: OFFSET + 7000 })],
    ['whose value was kept', last({ outcome: 'kept' })],
    ['whose source sent headers', last({ headers: { etag: 'x' } })],
    ['whose schedule uses an earlier reading', last({ since: OFFSET + 500 })],
    ['that was due at a named time', last({ dueAt: OFFSET + 900 })],
  ];
  it.each(changes)('%s', (_, change) => {
    const { table } = make();
    const others = [
      passivate(table, entryOf('before')),
      passivate(table, entryOf('tagged', having({ tags: ['t'] }))),
    ];
    const entry = entryOf('a', change);
    const activated = table.activate('a', passivate(table, entry), 0);
    expect(memory(activated)).toEqual(memory(entry));
    expect(memory(table.activate('before', others[0] as number, 0))).toEqual(memory(entryOf('before')));
    expect(table.columns.tags(others[0] as number)).toBeUndefined();
  });

  it.each<[string, (entry: CacheEntry) => void]>([
    ['is not', () => {}],
    ['has the version 7', (entry) => clusterStateOf(entry).happened({ on: 'found', version: 7 })],
    [
      'is newer than version 7',
      (entry) => {
        clusterStateOf(entry).happened({ on: 'found', version: 7 });
        clusterStateOf(entry).happened({ on: 'set' });
      },
    ],
    ['is new to it', (entry) => clusterStateOf(entry).happened({ on: 'set' })],
  ])('in a cluster whose store it %s', (_, change) => {
    const { table } = make({ isShared: true });
    const entry = entryOf('a', change);
    expect(memory(table.activate('a', passivate(table, entry), 0))).toEqual(memory(entry));
  });

  it('with its size', () => {
    const { table } = make({ bound: { maxSize: 10 } });
    const entry = entryOf('a', having({ size: 3 }));
    expect(table.activate('a', passivate(table, entry), 0).size).toBe(3);
  });
});

describe('a read needs only the value', () => {
  it('before it is due, if it was validated in the present epoch', () => {
    const { table } = make();
    const slot = passivate(table, entryOf('a'));
    expect([5999, 6000].map((now) => table.columns.isFresh(slot, at(now), 0))).toEqual([true, false]);
    expect(table.columns.tags(slot)).toBeUndefined();
    expect(table.columns.isFresh(slot, at(5999), 1)).toBe(false);
    table.columns.validate(slot, 1);
    expect([table.columns.isFresh(slot, at(5999), 1), table.columns.validatedEpoch(slot, 3)]).toEqual([
      true,
      1,
    ]);
    table.columns.invalidate(slot);
    expect(table.columns.isFresh(slot, at(5999), 1)).toBe(false);
  });

  it('also after 2 ** 32 epochs', () => {
    const { table } = make();
    const slot = passivate(table, entryOf('a'));
    const epoch = 2 ** 32 + 5;
    table.columns.validate(slot, epoch);
    expect([
      table.columns.isFresh(slot, at(0), epoch),
      table.columns.validatedEpoch(slot, epoch + 2),
    ]).toEqual([true, epoch]);
  });
});

describe('slots', () => {
  it('that are released are used again, without anything of the old entry', () => {
    const { table, calls } = make();
    const slot = passivate(
      table,
      entryOf('a', (entry) => void Object.assign(entry, { tags: ['nl'] })),
    );
    table.delete('a');
    expect([table.columns.value(slot), table.columns.tags(slot), calls]).toEqual([
      undefined,
      undefined,
      ['slot 0', 'key a'],
    ]);
    expect(table.place(entryOf('b'))).toBe(slot);
    expect(table.columns.tags(slot)).toBeUndefined();
  });

  it('change when the size of the value does; the key is not reported as gone', () => {
    const { table, calls } = make({ bound: { maxSize: 10 } });
    const [a] = ['a', 'b'].map((id) => passivate(table, entryOf(id)));
    expect(table.place(entryOf('a'))).toBe(a);
    expect([...table.slots()].map(([id]) => id)).toEqual(['a', 'b']);
    const larger = table.place(entryOf('a', (entry) => void Object.assign(entry, { size: 2 })));
    expect([larger, calls]).toEqual([2, ['slot 0']]);
    expect([...table.slots()].map(([id]) => id)).toEqual(['b', 'a']);
  });
});
