import { describe, expect, it } from 'vitest';
import { SwappedRecords } from '../../../src/records/cells/swapped-records.ts';
import type { Answer, Edit, Put } from '../../../src/records/records.ts';
import { withFields } from '../../support/cell-text.ts';
import { FakeCells } from './fake-cells.ts';
import { MemoryTexts, Server, swappedIn } from './memory-texts.ts';

const LONG = 'x'.repeat(4000);
const put = (token: number, text: string, older = 0): Put => ({ op: 'put', name: 'a', token, text, older });

function open(cells = new FakeCells()) {
  const records = new SwappedRecords(cells, Infinity, cells.clock);
  const apply = async (edit: Edit): Promise<Answer> => {
    const [answer] = (await records.apply([edit])).answers;
    if (answer instanceof Error) throw answer;
    return answer as Answer;
  };
  return { cells, apply, records };
}

describe('a long text of a record that is swapped', () => {
  it('is asked for, unless the reader has that of the record as it was seen last', async () => {
    const { cells, apply } = open();
    await apply(put(1, LONG));
    cells.calls.length = 0;
    expect((await apply({ op: 'read', name: 'a', newerThan: 1 })).row).toBeUndefined();
    expect((await apply({ op: 'read', name: 'a', newerThan: 0 })).row?.text).toBe(LONG);
    expect((await apply({ op: 'read', name: 'a', isBrief: true })).row?.text).toBe('');
    const [id] = cells.longs.keys();
    expect(cells.calls.flat()).toMatchObject([
      { name: 'a', isWhole: true, known: id },
      { name: 'a', isWhole: true, known: undefined },
      { name: 'a', isWhole: false },
    ]);
  });

  it('of another instance, newer than the one that the reader has, comes with its record', async () => {
    const { cells, apply } = open();
    await apply(put(1, LONG));
    await open(cells).apply(put(2, `${LONG}2`));
    cells.calls.length = 0;
    expect((await apply({ op: 'read', name: 'a', newerThan: 1 })).row?.text).toBe(`${LONG}2`);
    expect(cells.calls).toHaveLength(1);
  });

  it('does not travel with a change of its record', async () => {
    const { cells, apply } = open();
    await apply(put(1, LONG));
    cells.calls.length = 0;
    const confirmed = { op: 'amend', name: 'a', token: 1, phase: 'held', note: 'checked', forMs: 0 } as const;
    expect(await apply(confirmed)).toMatchObject({ isDone: true, row: { note: 'checked' } });
    expect(JSON.stringify(cells.calls)).not.toContain('xxx');
    expect((await apply({ op: 'read', name: 'a' })).row?.text).toBe(LONG);
  });

  it.each(['the same instance', 'another'])(
    'whose put has lost its answer keeps its age when it is put again by %s',
    async (who) => {
      const { cells, apply } = open();
      cells.answers = ({ swap }, own) => (swap === undefined ? own : new Error('connection lost'));
      await expect(apply(put(1, LONG))).rejects.toThrow('connection lost');
      cells.answers = (_, own) => own;
      cells.now += 5000;
      const again = who === 'another' ? open(cells).apply : apply;
      expect(await again(put(1, LONG))).toMatchObject({ isDone: true, row: { token: 1, age: 5000 } });
      expect((await again({ op: 'read', name: 'a' })).row).toMatchObject({ age: 5000, text: LONG });
      expect(cells.longs.size).toBe(1);
    },
  );

  it('is replaced by another one of that length, with the same token', async () => {
    const { cells, apply } = open();
    await apply(put(1, LONG));
    cells.now += 5000;
    const other = LONG.replaceAll('x', 'y');
    expect(await apply(put(1, other))).toMatchObject({ isDone: true, row: { age: 0 } });
    expect((await apply({ op: 'read', name: 'a' })).row?.text).toBe(other);
    expect([...cells.longs.values()]).toEqual([other]);
  });

  it('is put also where another one of that length and token is put while it is compared', async () => {
    const { cells, apply } = open();
    await apply(put(1, LONG));
    const { long } = cells;
    cells.long = async (...asked) => {
      cells.long = long;
      await open(cells).apply(put(1, LONG.replaceAll('x', 'y')));
      return long.apply(cells, asked);
    };
    const other = LONG.replaceAll('x', 'z');
    expect(await apply(put(1, other))).toMatchObject({ isDone: true, row: { token: 1 } });
    expect((await apply({ op: 'read', name: 'a' })).row?.text).toBe(other);
  });

  it('that a put has not expected comes with its answer, and is read again only to be compared', async () => {
    const { cells, apply, records } = open();
    const replaced = async (text: string, expected: number) => {
      const put: Put = { op: 'put', name: 'a', text, older: 0, expected };
      const [made, found] = (await records.apply([put, { op: 'read', name: 'a' }])).answers as Answer[];
      return { isDone: made?.isDone, token: made?.row?.token as number, text: found?.row?.text };
    };
    const [other, longer] = [LONG.replaceAll('x', 'y'), `${LONG}y`];
    await open(cells).apply({ op: 'put', name: 'a', text: LONG, older: 0, expected: 0 });
    cells.calls.length = 0;
    const { token } = await replaced(longer, 0);
    expect(cells.calls).toHaveLength(1);
    expect(await replaced(other, 0)).toEqual({ isDone: false, token, text: LONG });
    expect(await replaced(longer, token)).toMatchObject({ isDone: true });
    cells.calls.length = 0;
    expect(await replaced(longer, token)).toMatchObject({ isDone: true }); // its answer was lost
    expect((await apply({ op: 'read', name: 'a' })).row?.text).toBe(longer);
  });

  it('is left out as that of an earlier edition where all of them are too long for the backend', async () => {
    const cells = new FakeCells();
    cells.mostBytes = 10_000;
    const { apply, records } = open(cells);
    for (const token of [1, 2, 3]) await apply(put(token, LONG, 5));
    const tokens = async () => (await records.editions('a', 10)).map(({ row }) => row.token);
    expect(await tokens()).toEqual([3, 2]);
    expect(cells.longs.size).toBe(2);
    await apply(put(4, 'short', 5));
    expect(await tokens()).toEqual([4, 3, 2]);
    await apply(put(5, 'x'.repeat(10_001), 5));
    expect(await tokens()).toEqual([5]);
  });

  it.each([1, 3])(
    'is there in a list of editions, though %i puts have dropped those before meanwhile',
    async (puts) => {
      const { cells, apply, records } = open();
      await apply(put(1, LONG));
      const { long } = cells;
      let token = 1;
      cells.long = async (...asked) => {
        if (token <= puts) await open(cells).apply(put(++token, LONG));
        return long.apply(cells, asked);
      };
      expect(await records.editions('a', 10)).toMatchObject([
        { row: { token, text: LONG, damage: undefined } },
      ]);
      cells.longs.clear();
      expect(await records.editions('a', 10)).toMatchObject([{ row: { token, text: '', damage: 'text' } }]);
    },
  );
});

describe('edits of the lock and the snapshot of a name', () => {
  const claim = {
    op: 'claim',
    name: 'lock/a',
    id: 'two',
    text: 'holder',
    forMs: 1000,
    force: false,
  } as const;
  const read = { op: 'read', name: 'snapshot/a', newerThan: 0 } as const;
  const end = { op: 'amend', name: 'lock/a', phase: 'held', note: 'done', forMs: 1000 } as const;
  const putTo = (token: number, text: string) => ({ ...put(token, text), name: 'snapshot/a' });

  /** Another instance has published, and holds the name. */
  async function published() {
    const { cells, records } = open();
    const { answers } = await records.apply([{ ...claim, id: 'one' }]);
    const { token = 0 } = (answers[0] as Answer).row ?? {};
    await records.apply([putTo(5, LONG), { ...end, id: 'one', token }]);
    return { cells, records, token };
  }

  it('are one command: a claim that is not done has the newer snapshot with it', async () => {
    const { cells } = await published();
    const other = open(cells);
    await other.apply({ op: 'read', name: 'another' });
    cells.calls.length = 0;
    expect((await other.records.apply([claim, read])).answers).toMatchObject([
      { isDone: false, row: { phase: 'held', id: 'one' } },
      { isDone: true, row: { token: 5, text: LONG } },
    ]);
    expect(cells.calls).toHaveLength(1);
    cells.calls.length = 0;
    const again = await other.records.apply([claim, { ...read, newerThan: 5 }]);
    expect(again.answers).toMatchObject([{ isDone: false }, { isDone: false, row: undefined }]);
    expect(cells.calls).toMatchObject([[{ known: [...cells.longs.keys()][0] }]]);
  });

  it('have no text beside a claim that is done', async () => {
    const { cells, records } = await published();
    cells.now += 2000;
    expect((await records.apply([claim, read])).answers).toMatchObject([
      { isDone: true, row: { phase: 'leased', id: 'two' } },
      { isDone: true, row: { token: 5, text: '' } },
    ]);
  });

  it.each([
    ['the put is refused', putTo(4, 'older'), {}],
    ['the lease is over', putTo(6, `${LONG}6`), { id: 'two' }],
  ])('are all made or none: %s', async (_, edit, other) => {
    const { cells, records, token } = await published();
    const [before] = cells.texts.values();
    const { answers } = await records.apply([edit, { ...end, note: 'again', token, ...other }]);
    expect(answers).toMatchObject([
      { isDone: false, row: { token: 5 } },
      { isDone: false, row: { token, note: 'done' } },
    ]);
    expect([...cells.texts.values()]).toEqual([before]);
    expect([...cells.longs.values()]).toEqual([LONG]);
  });

  it.each([null, 'abc', 9e15, -1, undefined])(
    'one that ends at %j, by hand, does not keep the other from being changed and kept',
    async (until) => {
      const cells = new FakeCells();
      const records = new SwappedRecords(cells, 5000, cells.clock);
      await records.apply([putTo(5, 'text')]);
      const [[name, text] = ['', '']] = cells.texts;
      cells.texts.set(name, withFields(text, 'snapshot', { until, text: until === undefined ? 5 : 'text' }));
      cells.calls.length = 0;
      expect((await records.apply([claim])).answers).toMatchObject([{ isDone: true }]);
      const kept = cells.calls.flat().map(({ swap }) => swap?.keepForMs ?? 0);
      expect(Math.max(...kept)).toBeGreaterThanOrEqual(6000);
      expect(Math.max(...kept)).toBeLessThan(10 ** 11);
    },
  );

  it('are deleted apart, each once', async () => {
    const { cells, records } = await published();
    const other = open(cells);
    const isDeleted = async (by: typeof records, name: string) =>
      (await by.apply([{ op: 'delete', name }])).answers.map((answer) => (answer as Answer).isDone);
    await other.records.apply([{ op: 'read', name: 'lock/a' }]);
    expect(await isDeleted(records, 'snapshot/a')).toEqual([true]);
    expect(await isDeleted(other.records, 'snapshot/a')).toEqual([false]);
    expect(cells.longs.size).toBe(0);
    expect(await isDeleted(other.records, 'lock/a')).toEqual([true]);
    expect(cells.texts.size).toBe(0);
  });
});

it.each(['until', 'phase', 'changedAt'])(
  'earlier editions are sound where %s of the present one was edited',
  async (field) => {
    const { cells, apply, records } = open();
    for (const token of [1, 2]) await apply(put(token, `text ${token}`, 1));
    const edited = withFields(cells.texts.get('a'), 'snapshot', { [field]: Number.MAX_SAFE_INTEGER });
    cells.texts.set('a', edited);
    const editions = await records.editions('a', 100);
    expect(editions.map(({ row }) => [row.token, row.damage])).toEqual([
      [2, field],
      [1, undefined],
    ]);
  },
);

it('a mark has a later version than a load before it, and an earlier one than a load of its client after it, however little they know of the clock', async () => {
  const server = new Server();
  const [one, another] = [[-1000, 0] as const, [0, 1000] as const].map((bounds) =>
    swappedIn(new MemoryTexts(server, ...bounds)),
  ) as [SwappedRecords, SwappedRecords];
  const tokenOf = async (records: SwappedRecords, edit: Edit): Promise<number> => {
    const [answer] = (await records.apply([edit])).answers;
    return (answer as Answer).row?.token as number;
  };
  const claim = { op: 'claim', id: 'i', text: '', forMs: 1000, force: false } as const;
  const mark = { op: 'put', name: 'snapshot/marks', text: 'a', older: 0 } as const;
  const before = await tokenOf(another, { ...claim, name: 'lock/before' });
  server.now += 1;
  const marked = await tokenOf(one, mark);
  const after = await tokenOf(one, { ...claim, name: 'lock/after' });
  expect([before, marked, after]).toEqual([before, marked, after].toSorted((a, b) => a - b));
  expect(new Set([before, marked, after]).size).toBe(3);
});
