import { describe, expect, test } from 'vitest';
import { differenceOf } from '../../../src/data/difference.ts';

const prices = [
  { code: 'a', price: 1, sizes: new Set([1, 2]) },
  { code: 'b', price: 2, sizes: new Set([3]) },
  { code: 'c', price: 3, sizes: new Set([4]) },
];
const code = (record: { readonly code: string }): string => record.code;

/** A row that contains itself. */
function ring(city: string): object {
  const row: Record<string, unknown> = { city };
  return Object.assign(row, { self: row });
}

describe('what changed between two editions', () => {
  test('of an array of records, wherever they stand, by deep equality', async () => {
    const [a, b] = structuredClone(prices);
    const edited = [{ ...b, sizes: new Set([3, 4]) }, { code: 'd', price: 4 }, a];
    expect(await differenceOf(prices, edited, code)).toEqual({
      added: { count: 1, samples: [{ id: 'd', value: { code: 'd', price: 4 } }] },
      removed: { count: 1, samples: [{ id: 'c', value: prices[2] }] },
      changed: { count: 1, samples: [{ id: 'b', before: prices[1], after: edited[0] }] },
      unchanged: 1,
    });
  });

  test.each([
    ['Maps', new Map([['a', 1], ['b', 2]]), new Map([['b', 3], ['c', 4]])], // biome-ignore format: one line each
    ['objects', { a: 1, b: 2 }, { b: 3, c: 4 }],
    ['objects without a prototype', Object.assign(Object.create(null), { a: 1, b: 2 }), { b: 3, c: 4 }],
  ])('of %s, by key', async (_kind, before, after) => {
    expect(await differenceOf(before, after)).toEqual({
      added: { count: 1, samples: [{ id: 'c', value: 4 }] },
      removed: { count: 1, samples: [{ id: 'a', value: 1 }] },
      changed: { count: 1, samples: [{ id: 'b', before: 2, after: 3 }] },
      unchanged: 0,
    });
  });

  test.each([
    ['Sets', new Set(['a', 'b']), new Set(['b', 'c'])],
    ['arrays of texts', ['a', 'b'], ['c', 'b']],
  ])('of %s, whose members only come and go', async (_kind, before, after) => {
    const { added, removed, changed, unchanged } = await differenceOf(before, after);
    expect([added.samples, removed.samples]).toEqual([[{ id: 'c', value: 'c' }], [{ id: 'a', value: 'a' }]]);
    expect([changed.count, unchanged]).toEqual([0, 1]);
  });

  test.each([
    ['a text', 'x', 'y'],
    ['a date', new Date(1), new Date(2)],
    ['another kind than before', new Map([['a', 1]]), 'gone'],
  ])('of %s as a whole', async (_kind, before, after) => {
    const { changed, added, removed, unchanged } = await differenceOf(before, after);
    expect(changed).toEqual({ count: 1, samples: [{ id: undefined, before, after }] });
    expect([added.count, removed.count, unchanged]).toEqual([0, 0, 0]);
    expect(await differenceOf(before, structuredClone(before))).toMatchObject({ unchanged: 1 });
  });

  test.each(['id', 'code', 'Key', 'NAME'])(
    'of rows, by the field %s where it tells all apart in both',
    async (field) => {
      const rows = (count: number, from = 0) =>
        Array.from({ length: count }, (_, n) => ({ city: 'x', [field]: n + from }));
      const edited = [{ city: 'y', [field]: 99 }, ...rows(5, 3)];
      const { added, removed, changed, unchanged } = await differenceOf(rows(6), [
        ...edited.slice(0, 3),
        { city: 'z', [field]: 5 },
      ]);
      expect([added, removed.samples.map(({ id }) => id), changed, unchanged]).toEqual([
        { count: 1, samples: [{ id: 99, value: edited[0] }] },
        [0, 1, 2],
        {
          count: 1,
          samples: [{ id: 5, before: { city: 'x', [field]: 5 }, after: { city: 'z', [field]: 5 } }],
        },
        2,
      ]);
    },
  );

  test.each([
    ['no field of that kind', { city: 'a' }, { city: 'b' }],
    ['a field that two rows share', { name: 'x', city: 'a' }, { name: 'x', city: 'b' }],
    ['a field that is no text or number', { id: null, city: 'a' }, { id: null, city: 'b' }],
    ['rows that are lists', ['id', 'a'], ['id', 'b']],
    ['rows that contain themselves', ring('a'), ring('b')],
  ])('of rows with %s, by content, in any order and number', async (_kind, a, b) => {
    const { added, removed, changed, unchanged } = await differenceOf(
      [a, a, b],
      [b, structuredClone(a), b, b],
    );
    expect([added, removed, changed.count, unchanged]).toEqual([
      { count: 2, samples: [{ id: 2, value: b }, { id: 3, value: b }] }, // biome-ignore format: one line
      { count: 1, samples: [{ id: 1, value: a }] },
      0,
      2,
    ]);
  });

  test('of texts that occur several times, and of Sets of rows', async () => {
    expect(await differenceOf(['a', 'a', 1], ['a', '1'])).toMatchObject({
      added: { count: 1, samples: [{ id: '1', value: '1' }] },
      removed: { count: 2 },
      unchanged: 1,
    });
    const sets = [
      new Set([{ code: 1, n: 1 }, { code: 2 }]),
      new Set([{ code: 2 }, { code: 1, n: 2 }]),
    ] as const;
    expect(await differenceOf(...sets)).toMatchObject({ changed: { count: 1 }, unchanged: 1 });
  });

  test('of rows that are nested more deeply than the stack reaches', async () => {
    const deep = (leaf: number): unknown[] => {
      let nested: unknown[] = [leaf];
      for (let n = 0; n < 50_000; n++) nested = [nested];
      return nested;
    };
    const rows = (leaf: number) => [{ id: 1, deep: deep(leaf) }];
    expect(await differenceOf(rows(1), rows(1))).toMatchObject({ unchanged: 1 });
    expect((await differenceOf(rows(1), rows(2))).changed.count).toBe(1);
    expect(await differenceOf([deep(1)], [deep(2)])).toMatchObject({
      added: { count: 1 },
      removed: { count: 1 },
    });
  });

  test('of a hundred thousand rows in slices, each row a few times', async () => {
    let turns = 0;
    const yields = async (): Promise<void> => {
      turns += 1;
    };
    const rows = (from: number) =>
      Array.from({ length: 100_000 }, (_, n) => ({ postcode: from + n, city: 'x' }));
    const { added, removed, unchanged } = await differenceOf(rows(1), rows(0), undefined, yields);
    expect([added.count, removed.count, unchanged]).toEqual([1, 1, 99_999]);
    expect(turns).toBeGreaterThan(500);
  });

  test('counts all, and shows 20 of each', async () => {
    const before = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`old-${index}`, 0]));
    const after = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`new-${index}`, 0]));
    const { added, removed } = await differenceOf(before, after);
    expect([added.count, added.samples.length, removed.count, removed.samples.length]).toEqual([
      40, 20, 50, 20,
    ]);
  });

  test('lets others run between slices of the work', async () => {
    const numbers = new Map(Array.from({ length: 10_000 }, (_, index) => [index, { index }]));
    let turns = 0;
    const { unchanged } = await differenceOf(numbers, structuredClone(numbers), undefined, async () => {
      turns += 1;
    });
    expect(unchanged).toBe(10_000);
    expect(turns).toBeGreaterThan(10);
  });

  test('looks at each entry of a large Map or Set within a value a few times, not once for each other entry', async () => {
    let looks = 0;
    class CountedMap extends Map<unknown, unknown> {
      override *entries(): MapIterator<[unknown, unknown]> {
        for (const entry of super.entries()) {
          looks += 1;
          yield entry;
        }
      }
    }
    class CountedSet extends Set<unknown> {
      override *values(): SetIterator<unknown> {
        for (const member of super.values()) {
          looks += 1;
          yield member;
        }
      }
    }
    const numbers = Array.from({ length: 500 }, (_, index) => index);
    const edition = (last: unknown) => ({
      byNumber: new CountedMap(numbers.map((n) => [n, { n }])),
      numbers: new CountedSet(numbers),
      edited: new CountedMap([['a', { last }], ['b', new CountedSet([last])]]), // biome-ignore format: one line
    });
    const { changed, unchanged } = await differenceOf(edition(1), edition(2));
    expect([changed.samples.map(({ id }) => id), unchanged]).toEqual([['edited'], 1000]);
    expect(looks).toBeLessThan(5 * numbers.length);
  });

  test.each([
    ['keys that are objects', new Map([[{ k: 1 }, 1]]), new Map([[{ k: 1 }, 1]]), new Map([[{ k: 2 }, 1]])],
    ['a key more', new Map([['a', 1]]), new Map([['a', 1]]), new Map([['a', 1], ['b', 1]])], // biome-ignore format: one line each
    ['another key', new Map([['a', undefined]]), new Map([['a', undefined]]), new Map([['b', undefined]])],
    ['members that are objects', new Set([{ k: 1 }]), new Set([{ k: 1 }]), new Set([{ k: 2 }])],
    ['another member', new Set(['a']), new Set(['a']), new Set(['b'])],
  ])('sees %s within a value', async (_kind, value, same, other) => {
    expect(await differenceOf({ value }, { value: same })).toMatchObject({ unchanged: 1 });
    expect((await differenceOf({ value }, { value: other })).changed.count).toBe(1);
  });

  test('names the rows of a list and the entries of an object that the value is wrapped around', async () => {
    const of = (count: number, price: number) => ({
      date: '2026-11-29',
      rows: Array.from({ length: count }, (_, n) => ({ code: `p${n}`, price: n === 3 ? price : 1 })),
      rates: { eur: Object.fromEntries(Array.from({ length: count }, (_, n) => [`c${n}`, n])) },
    });
    const { added, removed, changed, unchanged } = await differenceOf(of(40, 1), of(38, 2));
    expect([added.count, removed.samples, changed.samples, unchanged]).toEqual([
      0,
      [
        { id: 'rows.p38', value: { code: 'p38', price: 1 } },
        { id: 'rows.p39', value: { code: 'p39', price: 1 } },
        { id: 'rates.eur.c38', value: 38 },
        { id: 'rates.eur.c39', value: 39 },
      ],
      [{ id: 'rows.p3', before: { code: 'p3', price: 1 }, after: { code: 'p3', price: 2 } }],
      76,
    ]);
  });

  test('an entry that is a list in one edition only is one part, and one of few parts is', async () => {
    const wide = Array.from({ length: 11 }, (_, n) => n);
    const byName = Object.fromEntries(wide.map((n) => [`n${n}`, n]));
    for (const [before, after] of [[wide, 'gone'], [wide, byName], [[1, 2, 3], [1, 2, 4]]] as const) // biome-ignore format: one line
      expect((await differenceOf({ all: before }, { all: after })).changed.samples).toEqual([
        { id: 'all', before, after },
      ]);
  });

  test('compares values that contain themselves', async () => {
    const ring = (length: number, last: unknown) => {
      const first: Record<string, unknown> = { last };
      let at = first;
      for (let n = 1; n < length; n++) at = at.next = { last } as Record<string, unknown>;
      at.next = first;
      return { ring: first };
    };
    expect(await differenceOf(ring(1, 'x'), ring(1, 'x'))).toMatchObject({ unchanged: 1 });
    expect(await differenceOf(ring(2, 'x'), ring(3, 'x'))).toMatchObject({ unchanged: 1 }); // no path tells them apart
    expect((await differenceOf(ring(2, 'x'), ring(2, 'y'))).changed.count).toBe(1);
  });

  test('compares a part that occurs many times once', async () => {
    const tree = (leaf: unknown) => {
      let part: unknown[] = [leaf];
      for (let depth = 0; depth < 60; depth++) part = [part, part]; // 2 to the 60 paths
      return { part };
    };
    expect(await differenceOf(tree(1), tree(1))).toMatchObject({ unchanged: 1 });
    expect((await differenceOf(tree(1), tree(2))).changed.count).toBe(1);
    const members = (leaf: unknown) => new Set([tree(0), tree(leaf)]);
    expect(await differenceOf({ all: members(1) }, { all: members(1) })).toMatchObject({ unchanged: 1 });
    expect((await differenceOf({ all: members(1) }, { all: members(2) })).changed.count).toBe(1);
  });
});
