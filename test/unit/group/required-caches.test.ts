import { describe, expect, it } from 'vitest';
import { absent, isTicklessError, RefreshGroup, RefreshingCache } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { thrownBy } from '../../support/settle.ts';
import { unspread } from '../../support/unspread.ts';

/** A group with a required cache, whose source answers for the keys that are up. */
function make() {
  const clock = new FakeClock();
  const group = new RefreshGroup({ clock, logger: false, schedule: 1000, coolDown: 1000, retry: false });
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
    required: true,
    maxStaleness: 5000,
    random: unspread,
  });
  return { clock, group, cache, up, asked };
}

describe('a required cache', () => {
  it('is ready when one key was loaded', async () => {
    const { clock, group, cache, up, asked } = make();
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

  it('is ready when its source has answered that it lacks a key', async () => {
    const { group, cache } = make();
    const ready = group.ready({ timeout: Infinity });
    await cache.get('absent').catch(() => {});
    expect((await ready).ok).toBe(true);
  });

  it('that no read has loaded is named at the deadline', async () => {
    const { clock, group } = make();
    const ready = group.ready({ timeout: 5000 });
    await clock.advance(5000);
    expect(await ready).toMatchObject({
      ok: false,
      problems: [{ kind: 'not-loaded', isFatal: true, message: 'is required, and no key had a success yet' }],
    });
  });

  it('says so by a boolean, and needs a group', () => {
    const load = (key: string): string => key;
    for (const [required, rule] of [
      [['nl'], 'required must be true or false'],
      [true, 'required must not be given without a group'],
    ] as const) {
      const error = thrownBy(() => new RefreshingCache({ name: 'c', load, required: required as never }));
      expect(isTicklessError(error, 'OPTION') && error.message).toContain(rule);
    }
  });
});
