import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { type Backend, type Codec, RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordLines } from '../../support/events.ts';
import { storeOf } from '../../support/parts.ts';
import { sealed } from '../../support/sealed-snapshot.ts';

// Values of some megabytes: other callbacks run while they are encoded, checked and decoded.

const ROWS = 30_000;

const rows = (count: number = ROWS): { code: string; city: string; at: number }[] =>
  Array.from({ length: count }, (_, i) => ({ code: `${1000 + i}`, city: `City of ${i % 2500}`, at: i / 7 }));
const byCode = (): Map<string, object> => new Map(rows().map((row) => [row.code, row]));

const clock = new FakeClock();

function member(backend: Backend, load: () => unknown): { value: RefreshingValue<unknown>; lines: string[] } {
  const logger = recordLines();
  const value = new RefreshingValue({
    name: 'codes',
    load: () => load(),
    retry: false,
    schedule: 1000,
    clock,
    backend,
    logger,
  });
  return { value, lines: logger.lines };
}

const neverLoads = (): never => {
  throw new Error('loaded');
};

const { stringify, parse } = JSON;

/** Turns of the event loop, and the longest texts that JSON read or wrote in one go, until `work` settles. */
async function watched(work: Promise<unknown>): Promise<{ turns: number; longest: number }> {
  const sizes: number[] = [0];
  vi.spyOn(JSON, 'stringify').mockImplementation((value) => {
    const text = stringify(value);
    sizes.push(text.length);
    return text;
  });
  vi.spyOn(JSON, 'parse').mockImplementation((text) => {
    sizes.push(text.length);
    return parse(text);
  });
  let turns = 0;
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  work.then(over, over);
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  vi.restoreAllMocks();
  return { turns, longest: Math.max(...sizes) };
}

async function payloadOf(backend: Backend): Promise<string> {
  return (await storeOf(backend).read('codes'))?.payload ?? '';
}

async function isStored(backend: Backend): Promise<boolean> {
  return (await payloadOf(backend)) !== '';
}

describe('a large value', () => {
  it.each<[string, () => unknown, number]>([
    ['an array', rows, 40],
    ['an array in objects', () => ({ of: { nl: { codes: rows() } } }), 40],
    ['an object', () => Object.fromEntries(byCode()), 40],
    ['a Map', byCode, 40],
    ['a Set', () => new Set(rows(100_000).map(({ code }) => code)), 20],
    ['dates', () => rows().map((row) => ({ ...row, at: new Date(row.at) })), 40],
    ['two indexes of the same objects in rings', indexes, 20],
  ])('is published and adopted with turns between its parts: %s', async (_, load, parts) => {
    const backend = memoryBackend({ clock });
    const first = member(backend, load);
    const publish = await watched(first.value.refresh());
    const { length } = await payloadOf(backend);
    expect(publish.turns).toBeGreaterThan(parts);
    expect(publish.longest).toBeLessThan((3 * length) / parts);
    const second = member(backend, neverLoads);
    const adopted = second.value.get();
    const adopt = await watched(adopted);
    expect(adopt.turns).toBeGreaterThan(parts);
    expect(adopt.longest).toBeLessThan((3 * length) / parts);
    expect(isDeepStrictEqual(await adopted, first.value.current)).toBe(true);
    expect([...first.lines, ...second.lines]).toEqual([]);
  });

  it('of bytes or text of a codec is checked and converted with turns between', async () => {
    const bytes = Uint8Array.from({ length: 2_000_000 }, (_, i) => i % 251);
    for (const encoded of [bytes, 'x'.repeat(4_000_000)]) {
      const codec: Codec = { encode: () => encoded, decode: (read) => read };
      const backend = memoryBackend({ clock, codec });
      const turns = async (value: RefreshingValue<unknown>): Promise<number> =>
        (await watched(value.refresh())).turns;
      expect(await turns(member(backend, () => 1).value)).toBeGreaterThan(12);
      const adopted = member(backend, neverLoads).value.get();
      expect((await watched(adopted)).turns).toBeGreaterThan(12);
      expect(isDeepStrictEqual(await adopted, encoded)).toBe(true);
    }
  });

  it('is in the store once refresh() or close() has resolved', async () => {
    const backend = memoryBackend({ clock });
    await member(backend, rows).value.refresh();
    expect(await isStored(backend)).toBe(true);
    await storeOf(backend).delete('codes');
    const { value } = member(backend, rows);
    await value.get();
    expect(await isStored(backend)).toBe(false);
    await value.close();
    expect(await isStored(backend)).toBe(true);
  });

  it('is adopted also if that takes longer than a read may', async () => {
    const backend = memoryBackend({ timeout: 1 }); // by the clock of the machine
    const value = (load: () => unknown): RefreshingValue<unknown> =>
      new RefreshingValue({ name: 'codes', load, backend, logger: false, retry: false });
    await value(() => rows()).refresh();
    expect(isDeepStrictEqual(await value(neverLoads).get(), rows())).toBe(true);
  });

  it('gives way to set() while it is adopted', async () => {
    const backend = memoryBackend({ clock });
    await member(backend, rows).value.refresh();
    const { value } = member(backend, neverLoads);
    const read = value.get();
    await new Promise((resolve) => setImmediate(resolve));
    value.set('by hand');
    expect(await read).toBe('by hand');
    await clock.flush();
    expect(value.current).toBe('by hand');
  });

  it.each<[string, () => unknown, (value: never) => void]>([
    ['an array', rows, (value: unknown[]) => void value.pop()],
    ['a Map', byCode, (value: Map<string, unknown>) => void value.set('more', 1)],
    [
      'an object',
      () => Object.fromEntries(byCode()),
      (value: { 30999?: unknown }) => void delete value[30999],
    ],
  ])('that gets more or fewer entries while it is encoded is not published: %s', async (_, load, change) => {
    const backend = memoryBackend({ clock });
    const { value, lines } = member(backend, load);
    const loaded = await value.get();
    for (let turn = 0; turn < 15; turn++) await new Promise((resolve) => setImmediate(resolve));
    change(loaded as never);
    await clock.flush();
    expect(await isStored(backend)).toBe(false);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('the value was changed while it was split');
  });

  it('with an object of a class is not published', async () => {
    class Rate {
      readonly of = 1;
    }
    const { value, lines } = member(memoryBackend({ clock }), () => [...rows(), { rate: new Rate() }]);
    await value.refresh().catch(() => {});
    expect(lines[0]).toContain("the default codec can't keep a Rate (at ….rate); give the store a codec");
  });

  it('of an earlier version, in one text, is read', async () => {
    const backend = memoryBackend({ clock });
    await storeOf(backend).write('codes', sealed({}, JSON.stringify(rows())));
    expect(isDeepStrictEqual(await member(backend, neverLoads).value.get(), rows())).toBe(true);
  });

  it('that was damaged is rejected', async () => {
    const backend = memoryBackend({ clock });
    await member(backend, byCode).value.refresh();
    const payload = await payloadOf(backend);
    await storeOf(backend).write('codes', payload.replace('City of 2499', 'City of 2498'));
    const { value, lines } = member(backend, () => 'loaded');
    expect(await value.get()).toBe('loaded');
    expect(lines[0]).toContain('its checksum is wrong');
  });
});

it('a small value is encoded and decoded without a turn', async () => {
  const backend = memoryBackend({ clock });
  const { turns } = await watched(member(backend, () => rows(100)).value.refresh());
  const adopted = await watched(member(backend, neverLoads).value.get());
  expect([turns, adopted.turns]).toEqual([1, 1]);
});

/** Two indexes of the same objects, which refer to one another. */
function indexes(): object {
  const cities = Array.from({ length: 60 }, (_, of): { of: number; codes: object[] } => ({ of, codes: [] }));
  const all = rows(5000).map((row, i) => ({ ...row, city: cities[i % 60] }));
  for (const row of all) row.city?.codes.push(row);
  return { byCode: new Map(all.map((row) => [row.code, row])), cities };
}
