import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { ObjectTexts } from '../../../src/backends/durable-object/object-texts.ts';

// The rest is tested in workerd (durable-object.test.ts), where no other step can come between.

/** The records in an SQLite, and the instants at which texts expire. */
function openTexts(): { texts: ObjectTexts; expiries: number[] } {
  const database = new Database(':memory:');
  const expiries: number[] = [];
  const exec = (text: string, ...values: (string | number | null)[]) => {
    const statement = database.prepare(text);
    if (!statement.reader) statement.run(...values);
    const rows = statement.reader ? statement.all(...values) : [];
    return { toArray: () => rows as Record<string, unknown>[] };
  };
  return { texts: new ObjectTexts({ exec }, (at) => expiries.push(at)), expiries };
}

const KEY = { partition: 'a', sort: '-' };

it('a text is replaced where it is still the one before; a repeated swap is done again', async () => {
  const { texts } = openTexts();
  expect(await texts.swap(KEY, 'x', 'y', Infinity)).toEqual({ isDone: false, present: undefined });
  expect(await texts.swap(KEY, undefined, 'x', Infinity)).toEqual({ isDone: true });
  expect(await texts.swap(KEY, undefined, 'y', Infinity)).toEqual({ isDone: false, present: 'x' });
  for (let i = 0; i < 2; i += 1) expect(await texts.swap(KEY, 'x', 'y', Infinity)).toEqual({ isDone: true });
  expect(await texts.read([KEY])).toEqual(['y']);
});

it('what expires is told, and deleted from then on; the rest is kept', async () => {
  const before = Date.now();
  const { texts, expiries } = openTexts();
  await texts.put({ ...KEY, sort: 'gone' }, 'x', -1);
  await texts.put({ ...KEY, sort: 'soon' }, 'x', 60_000);
  await texts.put({ ...KEY, sort: 'later' }, 'x', 90_000);
  await texts.put({ ...KEY, sort: 'stays' }, 'x', Infinity);
  expect(expiries).toHaveLength(3);
  expect(expiries[1]).toBeGreaterThanOrEqual(before + 60_000);
  // Also before it is deleted it does not count.
  expect((await texts.ofPartition('a', '', 1)).map(({ key }) => key.sort)).toEqual(['later']);
  expect(await texts.ofPartitions('a', 'gone', 1)).toEqual([]);
  expect(texts.deleteExpired()).toBe(expiries[1]);
  expect((await texts.ofPartition('a', '', 10)).map(({ key }) => key.sort)).toEqual([
    'later',
    'soon',
    'stays',
  ]);
  expect(openTexts().texts.deleteExpired()).toBeUndefined();
});

it('all of a step is at one instant', async () => {
  const { texts } = openTexts();
  const span = texts.span();
  await sleep(5);
  expect(texts.span()).toEqual(span);
});
