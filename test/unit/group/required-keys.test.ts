import { describe, expect, it } from 'vitest';
import { absent, isTicklessError, RefreshGroup, RefreshingCache } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { settled, thrownBy } from '../../support/settle.ts';

/** A group with a cache, whose source answers for the keys that are up. */
function make(required: boolean | readonly string[], max = 100) {
  const clock = new FakeClock();
  const group = new RefreshGroup({
    clock,
    logger: false,
    schedule: 1000,
    coolDown: 1000,
    retry: { retries: 0 },
  });
  const up = new Set<string>();
  const asked: string[] = [];
  const cache = group.cache({
    name: 'cities',
    load: async (key: string) => {
      asked.push(key);
      if (key === 'absent') return absent();
      if (!up.has(key)) throw new Error(`${key} is down`);
      return key;
    },
    required,
    max,
    maxStaleness: 5000,
    jitter: false,
  });
  return { clock, group, cache, up, asked };
}

describe('required keys of a cache', () => {
  it('are loaded by ready(), each tried again after its cool-down; an absent one is answered', async () => {
    const { clock, group, up, asked } = make(['a', 'b', 'absent']);
    up.add('a');
    const ready = group.ready({ timeout: Infinity });
    await clock.flush();
    expect(asked).toEqual(['a', 'b', 'absent']);
    expect(group.health()).toMatchObject({
      ok: false,
      problems: [
        {
          kind: 'not-loaded',
          isFatal: true,
          key: 'b',
          message: '1 of 3 required keys had no success yet, for example "b": load failed: b is down',
        },
        { kind: 'failing', isFatal: false },
      ],
    });
    up.add('b');
    await clock.advance(1000);
    expect(await settled(ready)).toEqual({ value: { ok: true, problems: [] } });
    expect(asked).toEqual(['a', 'b', 'absent', 'b']);
    expect(clock.timerCount).toBe(0);
  });

  it('that are missing at the deadline are named', async () => {
    const { clock, group } = make(['a']);
    const ready = group.ready({ timeout: 5000 });
    await clock.advance(5000);
    expect(await ready).toMatchObject({ ok: false, problems: [{ kind: 'not-loaded', key: 'a' }, {}] });
  });

  it('count as loaded after their first success, also when they are evicted', async () => {
    const { group, cache, up } = make(['a', 'b'], 1);
    up.add('a').add('b');
    expect((await group.ready()).ok).toBe(true);
    expect(cache.size).toBe(1);
    expect(group.health().ok).toBe(true);
  });

  it('make the instance unfit when they are too old and their reload fails', async () => {
    const { clock, group, cache, up } = make(['a']);
    up.add('a');
    await group.ready();
    up.clear();
    await clock.advance(6000);
    await cache.get('a').catch(() => {});
    expect(group.health()).toMatchObject({
      ok: false,
      problems: [{ kind: 'too-stale', key: 'a', isFatal: true }, {}],
    });
  });

  it('true: one key that was loaded is enough', async () => {
    const { clock, group, cache, up, asked } = make(true);
    await cache.get('a').catch(() => {});
    const ready = group.ready({ timeout: Infinity });
    await clock.flush();
    expect(group.health()).toMatchObject({
      ok: false,
      problems: [
        {
          kind: 'not-loaded',
          message: 'is required, and no key had a success yet, for example "a": load failed: a is down',
        },
        { kind: 'failing' },
      ],
    });
    up.add('b');
    await cache.get('b');
    expect((await ready).ok).toBe(true);
    expect(asked).toEqual(['a', 'b']);
  });

  it('false and no keys: the cache is ready at once', async () => {
    for (const required of [false, []]) {
      const { group, asked } = make(required);
      expect(await settled(group.ready())).toEqual({ value: { ok: true, problems: [] } });
      expect(asked).toEqual([]);
    }
  });

  it('are an array of keys or a boolean, and need a group', () => {
    const load = (key: string): string => key;
    for (const [required, rule] of [
      ['nl', 'required must be true, false or an array of keys'],
      [['nl', undefined], 'required must not contain undefined'],
      [['nl'], 'required must not be given without a group'],
    ] as const) {
      const error = thrownBy(() => new RefreshingCache({ name: 'c', load, required: required as never }));
      expect(isTicklessError(error, 'OPTION') && error.message).toContain(rule);
    }
  });
});
