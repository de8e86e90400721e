import { describe, expect, expectTypeOf, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import {
  type Kept,
  keep,
  type LoadContext,
  type Loaded,
  loaded,
  RefreshingValue,
} from '../../../src/index.ts';
import { firstOf, mergeOf, type Source } from '../../../src/sources/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { Editions } from '../../support/editions.ts';
import { onEnded } from '../../support/events.ts';
import { optionsIn } from '../../support/option-errors.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';
import { contextOf } from './origin.ts';

const NOON = Date.UTC(2026, 10, 20, 12);

function setup() {
  const clock = new FakeClock({ now: NOON });
  const rates = new Editions('rates.json', 1000, (edition) => ({ edition }));
  const countries = new Editions('/etc/countries', 2000, (edition) => ['NL', edition] as const);
  const load = mergeOf({ rates: rates.source, countries: countries.source });
  const quiet = { name: 'shop', retry: false, logger: false } as const;
  const common = { ...quiet, load, schedule: 600_000, clock, random: () => 0 };
  return { clock, rates, countries, common, member: new RefreshingValue(common) };
}

const dueIn = (member: RefreshingValue<never>, clock: FakeClock): number =>
  member.inspect().nextExecuteTime - clock.now();

describe('mergeOf', () => {
  it('makes an object of the values, with the notes of each', async () => {
    const { member } = setup();
    const shop = await member.get();
    expectTypeOf(shop).toEqualTypeOf<{ rates: { edition: number }; countries: readonly ['NL', number] }>();
    expect(shop).toEqual({ rates: { edition: 1 }, countries: ['NL', 1] });
    expect(member.inspect().meta).toEqual({
      source: 'rates: rates.json, countries: /etc/countries',
      editedAt: 2000,
      mergeOf: {
        rates: { source: 'rates.json', editedAt: 1000, edition: 1 },
        countries: { source: '/etc/countries', editedAt: 2000, edition: 1 },
      },
    });
  });

  it('keeps the part of a source that keeps it, and the whole where all do', async () => {
    const { member, rates } = setup();
    const before = await member.get();
    rates.edition = 2;
    const after = await member.refresh();
    expect(after).toEqual({ rates: { edition: 2 }, countries: ['NL', 1] });
    expect(after.countries).toBe(before.countries);
    let kept = 0;
    onEnded(member, 'kept', () => (kept += 1));
    expect(await member.refresh()).toBe(after);
    expect(await member.refresh()).toBe(after);
    expect(kept).toBe(2);
    expect(rates.contexts.at(-1)?.previous).toEqual({
      value: { edition: 2 },
      loadedAt: NOON,
      meta: { source: 'rates.json', editedAt: 1000, edition: 2 },
    });
  });

  it('asks for them at the same time', async () => {
    const { member, rates, countries, clock } = setup();
    let release = (): void => {};
    rates.fault = () => new Promise<void>((resolve) => (release = resolve));
    const first = member.get();
    await clock.flush();
    expect([rates.calls, countries.calls]).toEqual([1, 1]);
    release();
    await first;
  });

  it('takes plain loads, of which only one that has answered before gets its part', async () => {
    const seen: unknown[] = [];
    const load = mergeOf({
      one: ({ previous }) => {
        seen.push(previous);
        return previous === undefined ? Number(1) : keep();
      },
      two: async () => 'two',
    });
    const member = new RefreshingValue({
      name: 'x',
      load,
      initial: { value: { one: 0, two: 'no' }, loadedAt: 1 },
    });
    await member.refresh();
    expect(await member.refresh()).toEqual({ one: 1, two: 'two' });
    expect(seen).toEqual([undefined, { value: 1, loadedAt: expect.any(Number), meta: {} }]);
    expect(member.inspect().meta).toEqual({ source: 'one, two', mergeOf: { one: {}, two: {} } });
  });

  it('fails where one fails, with its name; the others are aborted, and the whole value stays', async () => {
    const { member, rates, countries, clock } = setup();
    const before = await member.get();
    const cause = Object.assign(new Error('rates.json: 503'), { retryAfter: 99 });
    rates.down(cause);
    countries.fault = () => new Promise(() => {});
    const error = (await rejectionOf(member.refresh())) as Error;
    expect(error.message).toBe('shop: load failed: rates: rates.json: 503');
    expect((error.cause as Error).cause).toBe(cause);
    expect(countries.contexts.at(-1)?.signal.aborted).toBe(true);
    expect(member.current).toBe(before);
    member.invalidate();
    expect(dueIn(member as never, clock)).toBe(99_000); // the cool-down
  });

  it('aborts all with the load', async () => {
    const { member, rates, countries, clock } = setup();
    rates.fault = countries.fault = () => new Promise(() => {});
    const first = rejectionOf(member.get());
    await clock.flush();
    await member.cancel('no longer needed');
    await first;
    expect([rates, countries].map(({ contexts }) => contexts[0]?.signal.aborted)).toEqual([true, true]);
  });

  it('knows its parts again after adoption', async () => {
    const { common, clock, rates, countries } = setup();
    const backend = memoryBackend({ clock });
    const first = new RefreshingValue({ ...common, backend });
    await first.get();
    await clock.flush();
    const second = new RefreshingValue({ ...common, backend });
    await second.get();
    expect([rates.calls, countries.calls]).toEqual([1, 1]);
    const kept: string[] = [];
    onEnded(second, 'kept', ({ outcome }) => void kept.push(outcome));
    await second.refresh();
    expect(kept).toEqual(['kept']);
  });

  it('does not say when it was edited where a part does not', async () => {
    const { member, rates } = setup();
    rates.editedAt = undefined;
    await member.get();
    expect(member.inspect().meta).not.toHaveProperty('editedAt');
  });

  it('takes names that objects have', async () => {
    const part = ({ previous }: LoadContext): Kept | number => (previous === undefined ? 1 : keep());
    const load = mergeOf(Object.fromEntries(['__proto__', 'toString'].map((name) => [name, part])));
    const member = new RefreshingValue({ name: 'x', load });
    const value = await member.get();
    expect(Object.entries(value)).toEqual([
      ['__proto__', 1],
      ['toString', 1],
    ]);
    expect(await member.refresh()).toBe(value);
  });
});

describe('the metadata of the whole', () => {
  const times = (...options: (readonly [number | undefined, number | undefined])[]) => {
    const clock = new FakeClock({ now: NOON });
    const parts = options.map(([dueAfter, maxStaleness], index) => {
      return [
        `part${index}`,
        () => loaded(index, { dueAfter, maxStaleness, headers: { age: '1' } }),
      ] as const;
    });
    const member = new RefreshingValue({
      name: 'x',
      load: mergeOf(Object.fromEntries(parts)),
      schedule: 1000,
      clock,
    });
    return { clock, member };
  };

  it('is due at the soonest instant where all have one', async () => {
    const { clock, member } = times([5000, undefined], [4000, undefined]);
    await member.get();
    expect(dueIn(member as never, clock)).toBe(4000);
  });

  it('is due by the schedule where one has none: a part that lasts does not hold up the others', async () => {
    const { clock, member } = times([5000, undefined], [undefined, undefined]);
    await member.get();
    expect(dueIn(member as never, clock)).toBe(1000);
  });

  it('is due at the cool-down of a backup, also of one that is deeper', async () => {
    const clock = new FakeClock({ now: NOON });
    const down = (): Promise<string> => Promise.reject(new Error('down'));
    const fails = firstOf(
      firstOf(down, () => 'backup', { clock, random: () => 0 }),
      () => 'no',
      { clock },
    );
    const load = mergeOf({ one: () => 1, two: mergeOf({ three: fails }) });
    const member = new RefreshingValue({ name: 'x', load, schedule: 600_000, clock });
    expect(await member.get()).toEqual({ one: 1, two: { three: 'backup' } });
    expect(dueIn(member as never, clock)).toBe(500);
    await member.refresh();
    expect(dueIn(member as never, clock)).toBe(1000);
  });

  it('is too stale with the first part that is', async () => {
    const { clock, member } = times([undefined, 9000], [undefined, 800], [undefined, undefined]);
    await member.get();
    await clock.advance(801);
    expect(member.inspect().state).toBe('too-stale');
  });
});

it('notes that are too long lose those of the longest parts, which are asked in full the next time', async () => {
  const noting = (length: number) => {
    const calls: boolean[] = [];
    const source: Source<number> = async ({ previous }): Promise<Loaded<number> | Kept> => {
      calls.push(previous !== undefined);
      return previous
        ? keep()
        : loaded(length, { meta: { source: 's'.repeat(150), etag: 'e'.repeat(length) } });
    };
    return { calls, source };
  };
  const [large, small, larger] = [noting(900), noting(10), noting(1200)];
  const load = mergeOf({ large: large.source, small: small.source, larger: larger.source });
  const member = new RefreshingValue({ name: 'x', load });
  await member.get();
  expect(Object.keys(member.inspect().meta?.mergeOf as object)).toEqual(['small', 'large']);
  expect(member.inspect().meta?.source).toHaveLength(200);
  expect(await member.refresh()).toEqual({ large: 900, small: 10, larger: 1200 });
  expect([large.calls, small.calls, larger.calls]).toEqual([
    [false, true],
    [false, true],
    [false, false],
  ]);
});

it('thousands of parts note those that find room', async () => {
  const names = Array.from({ length: 3000 }, (_, i) => `part ${i}`);
  const load = mergeOf(Object.fromEntries(names.map((name) => [name, async () => 1])));
  const { loadedOptions } = (await load(contextOf())) as Loaded<unknown>;
  const meta = loadedOptions.meta as { readonly mergeOf: object };
  const noted = Object.keys(meta.mergeOf);
  expect(noted).toEqual(names.slice(0, noted.length));
  const oneMore = { ...meta.mergeOf, [names[noted.length] as string]: {} };
  expect(JSON.stringify(meta).length).toBeLessThanOrEqual(2000);
  expect(JSON.stringify({ ...meta, mergeOf: oneMore }).length).toBeGreaterThan(2000);
});

it('refuses what is not a function, and no parts', () => {
  const error = thrownBy(() => mergeOf({ one: 1, two: () => 2, three: null } as never));
  expect(optionsIn(error)).toEqual(['one', 'three']);
  for (const given of [{}, undefined, null, [() => 1]])
    expect(() => mergeOf(given as never)).toThrow('at least one source');
});
