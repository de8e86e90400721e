import { describe, expect, it } from 'vitest';
import { keep, loaded } from '../../../src/index.ts';
import { fakeCache } from '../../support/fake-cache.ts';
import { fakeValue } from '../../support/manual-value.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';

describe('the option unchanged', () => {
  it("'deep' keeps the object that is in place, from the second load on", async () => {
    const load = async () => new Map([['a', [1, { b: new Date(5) }]]]);
    const { value } = fakeValue<object>(load, { unchanged: 'deep' });
    const changed: unknown[] = [];
    value.on('changed', (event) => changed.push(event.cause));
    const first = await value.get();
    await value.refresh();
    await value.refresh();
    expect(value.current).toBe(first);
    expect(changed).toEqual(['loaded']);
    expect(value.inspect().counts).toMatchObject({ loaded: 1, kept: 2 });
  });

  it('a value that differs replaces it, with the metadata of its load', async () => {
    let edition = 0;
    const load = () => ({ edition: Math.floor(edition++ / 2) });
    const { value } = fakeValue(load, { unchanged: 'deep' });
    const seen = [];
    for (let i = 0; i < 4; i++) {
      await value.refresh();
      seen.push(value.current);
    }
    expect(seen.map((one) => one.edition)).toEqual([0, 0, 1, 1]);
    expect(seen[1]).toBe(seen[0]);
    expect(seen[2]).not.toBe(seen[1]);
  });

  it('a function gets the value in place and the new one, and the age begins anew', async () => {
    const asked: unknown[] = [];
    let loads = 0;
    const { value, clock } = fakeValue(async () => ({ edition: 7, load: ++loads }), {
      unchanged: (before, now) => asked.push([before, now]) > 0 && before.edition === now.edition,
    });
    await value.get();
    await clock.advance(1000);
    await value.refresh();
    expect(asked).toEqual([[1, 2].map((load) => ({ edition: 7, load }))]);
    expect(value.current.load).toBe(1);
    expect(value.inspect().age).toBe(0);
  });

  const fails = (): never => {
    throw new Error('no edition');
  };
  it.each([
    ['throws', fails, 'no edition'],
    ['returns a promise', async () => true, 'must return true or false'],
    ['returns nothing', () => undefined, 'must return true or false'],
  ])('a function that %s fails the load, and the value stays', async (_, unchanged, message) => {
    const { value } = fakeValue<object>(async () => ({ a: 1 }), { unchanged: unchanged as never });
    const first = await value.get();
    expect(String(await rejectionOf(value.refresh()))).toContain(message);
    expect(value.current).toBe(first);
  });

  it('the value of the option initial is replaced by an equal one, which was loaded', async () => {
    const initial = { value: { a: 1 }, loadedAt: 0 };
    const { value } = fakeValue(async () => ({ a: 1 }), { initial, unchanged: 'deep' });
    await value.refresh();
    expect(value.inspect().isInitial).toBeUndefined();
    expect(value.inspect().counts.kept).toBe(0);
  });

  it('of each key of a cache by itself', async () => {
    const { cache } = fakeCache<string, object>({ load: async (key) => ({ key }), unchanged: 'deep' });
    const before = [await cache.get('a'), await cache.get('b')];
    await Promise.all([cache.refresh('a'), cache.refresh('b')]);
    expect([cache.peek('a'), cache.peek('b')]).toEqual(before);
    expect(cache.peek('a')).toBe(before[0]);
    expect(cache.inspect().counts.kept).toBe(2);
  });

  it('is refused where it is neither', () => {
    const make = (unchanged: unknown) => () => fakeValue(() => 1, { unchanged: unchanged as never });
    for (const unchanged of ['shallow', true, {}])
      expect(String(thrownBy(make(unchanged)))).toContain("unchanged must be 'deep' or a function");
  });
});

describe('meta', () => {
  it('is a copy of what JSON keeps', async () => {
    const seen: unknown[] = [];
    const given = { etag: '"a"', at: new Date(0), left: undefined };
    const { value } = fakeValue<number>(async ({ previous }) => {
      seen.push(previous?.meta);
      return previous === undefined ? loaded(1, { meta: given as never }) : keep();
    });
    await value.get();
    const meta = { etag: '"a"', at: '1970-01-01T00:00:00.000Z' };
    expect(value.inspect().meta).toEqual(meta);
    await value.refresh();
    await value.refresh();
    expect(seen).toEqual([undefined, meta, meta]);
    expect(value.inspect({ values: false }).meta).toEqual(meta); // it was kept
    value.set(2);
    expect(value.inspect()).not.toHaveProperty('meta');
  });

  const cyclic: { a?: unknown } = {};
  cyclic.a = cyclic;
  it.each([
    ['an array', [1]],
    ['a class', new (class Cursor {})()],
    ['too long', { x: 'x'.repeat(2000) }],
    ['a cycle', cyclic],
  ])('%s is refused: the load has failed', async (_, meta) => {
    const { value } = fakeValue<number>(async () => loaded(1, { meta: meta as never }));
    expect(await rejectionOf(value.get())).toMatchObject({ code: 'LOAD_FAILED' });
  });

  it('of a key stays with it while it is passive', async () => {
    const seen: unknown[] = [];
    const { cache } = fakeCache<string, number>({
      load: async (key, { previous }) => {
        seen.push(previous?.meta);
        return previous === undefined ? loaded(1, { meta: { of: key } }) : keep();
      },
    });
    await cache.get('a');
    await cache.refresh('a');
    await cache.refresh('a');
    expect(seen).toEqual([undefined, { of: 'a' }, { of: 'a' }]);
  });
});
