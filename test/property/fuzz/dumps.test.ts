import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { type CacheDump, isOptionError, loaded, RefreshingCache } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { expectReadable, expectUnpolluted, hostileJson, hostileValue } from './support/hostile.ts';
import { mutation } from './support/mutations.ts';
import { HUGE, runs } from './support/runs.ts';
import { ratioOfTimes } from './support/times.ts';

// Dumps that were kept in a file: a cache restores the whole dump, or rejects it and stays unchanged.

afterEach(expectUnpolluted);

const NOW = Date.UTC(2026, 10, 20, 12);

function start(): { clock: FakeClock; cache: RefreshingCache<string, unknown> } {
  const clock = new FakeClock({ now: NOW });
  const load = async (key: string): Promise<unknown> => loaded(`loaded ${key}`, { tags: ['t'] });
  const options = { name: 'c', load, schedule: 1000, clock, logger: false } as const;
  return { clock, cache: new RefreshingCache<string, unknown>(options) };
}

async function dumped(): Promise<string> {
  const { cache } = start();
  await cache.getMany(['a', 'b', '__proto__', 'constructor']);
  return JSON.stringify(cache.dump());
}

/** A second definition of a valid entry of a dump, independent of the code. */
function isEntry({ key, value, age, nextExecuteTime, maxStaleness, tags }: Record<string, unknown>): boolean {
  return (
    key !== undefined &&
    value !== undefined &&
    isFromZero(age) &&
    (nextExecuteTime === null || isFromZero(nextExecuteTime)) &&
    (maxStaleness === null || maxStaleness === undefined || isFromZero(maxStaleness)) &&
    (tags === undefined || (Array.isArray(tags) && tags.every((tag) => typeof tag === 'string')))
  );
}

/** It is dropped, and otherwise not looked at. Dumps are restored at the instant at which they were made. */
function isTooOld({ age, maxStaleness }: Record<string, unknown>): boolean {
  return [age, maxStaleness].every(isFromZero) && (age as number) > (maxStaleness as number);
}

function isFromZero(one: unknown): boolean {
  return typeof one === 'number' && one >= 0;
}

/** Restores the dump, or leaves the cache unchanged and throws the reason. */
async function expectWhole(dump: unknown): Promise<void> {
  const { clock, cache } = start();
  cache.set('held', 'held');
  let error: unknown;
  try {
    const { restored, dropped } = cache.restore(dump as CacheDump<string, unknown>);
    const { entries } = dump as CacheDump<string, unknown>;
    expect(restored + dropped).toBe(entries.filter(() => true).length);
    expect(entries.every((entry) => isEntry({ ...entry }) || isTooOld({ ...entry }))).toBe(true);
    for (const key of cache.keys()) {
      const status = cache.inspect(key);
      expect(status?.age).toBeGreaterThanOrEqual(0);
      expect(status?.nextExecuteTime).not.toBeNaN();
      // A value of the dump, and no other.
      const given = [...entries.map((entry) => entry.value), 'held'];
      expect(given.some((value) => Object.is(value, cache.peek(key)))).toBe(true);
    }
  } catch (thrown) {
    error = thrown;
    if (!isOptionError(error)) throw error;
    expect(error).toMatchObject({
      cacheName: 'c',
      option: expect.stringMatching(/^dump(\.entries\[\d+\]\.|$)/),
    });
    expectReadable(error.message.replace(/received \[object \w+\]/, '')); // what JSON can't show
    expect([...cache.keys()]).toEqual(['held']);
  }
  for (const key of ['held', 'a', '__proto__']) expect(await cache.get(key)).toBeDefined();
  await clock.advance(86_400_000);
  await cache.refresh('a');
  expect(cache.current('a')).toBe('loaded a');
}

describe('a dump', () => {
  it('whose text was damaged and is still JSON', async () => {
    const text = await dumped();
    let parsed = 0;
    await fc.assert(
      fc.asyncProperty(mutation, async (mutate) => {
        let dump: unknown;
        try {
          dump = JSON.parse(mutate(text, text));
        } catch {
          return; // rejected by JSON.parse
        }
        parsed += 1;
        await expectWhole(dump);
      }),
      runs(600),
    );
    expect(parsed).toBeGreaterThan(0);
  });

  it('of which a field holds anything', async () => {
    const text = await dumped();
    const outer = fc.constantFrom('version', 'name', 'at', 'entries', '__proto__');
    const inner = fc.constantFrom(
      'key',
      'value',
      'age',
      'nextExecuteTime',
      'maxStaleness',
      'tags',
      '__proto__',
    );
    const change = fc.oneof(
      fc.tuple(fc.constant('outer'), fc.dictionary(outer, hostileValue, { minKeys: 1, maxKeys: 2 })),
      fc.tuple(fc.constant('inner'), fc.dictionary(inner, hostileValue, { minKeys: 1, maxKeys: 3 })),
      fc.tuple(fc.constant('entry'), hostileValue),
    );
    await fc.assert(
      fc.asyncProperty(change, fc.nat(3), async ([where, fields], index) => {
        const dump = JSON.parse(text);
        if (where === 'outer') Object.assign(dump, fields);
        else if (where === 'inner') Object.assign(dump.entries[index], fields);
        else dump.entries[index] = fields;
        await expectWhole(dump);
      }),
      runs(600),
    );
  });

  it('that is anything', async () => {
    await fc.assert(fc.asyncProperty(fc.oneof(hostileJson, hostileValue), expectWhole), runs(300));
  });

  it('that is huge, and invalid throughout: rejected with a readable line', async () => {
    const entry = {
      key: 5,
      value: 'x'.repeat(1000),
      age: 'old',
      nextExecuteTime: 'soon',
      tags: 'x'.repeat(1000),
    };
    const refuse = (count: number) => {
      const dump = { version: 1, name: 'c', at: NOW, entries: Array(count).fill(entry) };
      return () => expectWhole(dump);
    };
    expect(await ratioOfTimes(refuse(HUGE / 1000), refuse(HUGE / 100))).toBeLessThan(50);
    await expectWhole({ version: 2, name: 'x'.repeat(HUGE), entries: [] });
  });
});
