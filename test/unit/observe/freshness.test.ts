import { describe, expect, it } from 'vitest';
import { absent, OptionError, RefreshGroup, RefreshingCache } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { fakeValue, manualValue } from '../../support/manual-value.ts';

const MINUTE = 60_000;
const freshness = { within: { minutes: 15 }, target: 0.9 };

describe('an objective for the age of reads', () => {
  it('is met by reads of a value up to that age, fresh or stale', async () => {
    const { value, clock } = fakeValue(async () => 1, { schedule: 60 * MINUTE, freshness });
    await value.get(); // waits, and is served a value of age 0
    await clock.advance(15 * MINUTE);
    for (let read = 0; read < 8; read++) await value.get();
    expect(value.stats().freshness).toEqual({
      within: 15 * MINUTE,
      target: 0.9,
      hour: { reads: 9, share: 1 },
      day: { reads: 9, share: 1 },
      burning: false,
    });
    await clock.advance(1);
    expect(value.current).toBe(1); // fresh by its schedule, and too old
    expect(value.stats().freshness).toMatchObject({ hour: { reads: 10, share: 0.9 }, burning: false });
    await value.get();
    expect(value.stats().freshness).toMatchObject({ hour: { reads: 11, share: 9 / 11 }, burning: true });
  });

  it('slides: an hour and a day later the reads are forgotten', async () => {
    const { value, clock } = fakeValue(async () => 1, { schedule: 2000 * MINUTE, freshness });
    await value.get();
    await clock.advance(20 * MINUTE);
    await value.get(); // too old
    const shares = (): unknown => {
      const { hour, day } = value.stats().freshness!;
      return [hour, day].map(({ reads, share }) => [reads, share]);
    };
    expect(shares()).toEqual([
      [2, 0.5],
      [2, 0.5],
    ]);
    await clock.advance(40 * MINUTE);
    expect(shares()).toEqual([
      [1, 0],
      [2, 0.5],
    ]);
    await clock.advance(20 * MINUTE);
    expect(shares()).toEqual([
      [0, undefined],
      [2, 0.5],
    ]);
    await clock.advance(24 * 60 * MINUTE);
    expect(shares()).toEqual([
      [0, undefined],
      [0, undefined],
    ]);
    await value.get();
    await clock.advance(300 * 24 * 60 * MINUTE);
    expect(shares()).toEqual([
      [0, undefined],
      [0, undefined],
    ]);
  });

  it('is missed by a read that is refused; not by mistakes, by the end of a wait, or by reads after close', async () => {
    const { value, manual } = manualValue({ freshness, whenClosed: 'throw' });
    const controller = new AbortController();
    const reads = [value.get(), value.get({ signal: controller.signal }), value.get({ patince: 1 } as never)];
    controller.abort();
    manual.call(0).reject(new Error('down'));
    await Promise.allSettled([...reads, value.get()]); // the last one is cooling down
    expect(() => value.current).toThrow();
    expect(value.stats().freshness?.hour).toEqual({ reads: 3, share: 0 });
    await value.close();
    await value.get().catch(() => {});
    expect(value.stats().freshness?.hour.reads).toBe(3);
  });

  it('counts all keys of a cache together, an absent one as well served', async () => {
    const clock = new FakeClock();
    const load = async (key: string) => (key === 'x' ? absent() : key);
    const cache = new RefreshingCache({
      name: 'c',
      load,
      schedule: 60 * MINUTE,
      jitter: false,
      clock,
      freshness,
    });
    await cache.getMany(['a', 'b', 'x']);
    await clock.advance(20 * MINUTE);
    expect(cache.current('a')).toBe('a'); // too old
    await cache.refresh('b');
    expect(cache.current('b')).toBe('b');
    expect(cache.stats().freshness?.hour).toEqual({ reads: 5, share: 0.8 });
  });

  it('that is missed is a notice of the group, and no problem of now', async () => {
    const clock = new FakeClock();
    const group = new RefreshGroup({ clock, freshness, schedule: 60 * MINUTE });
    const a = group.value({ name: 'a', load: () => 1 });
    const c = group.cache({ name: 'c', load: (key: string) => key, jitter: false });
    for (let read = 0; read < 2; read++) {
      expect([a.current, c.current('x')]).toEqual([1, 'x']);
      await clock.advance(20 * MINUTE);
    }
    const message = '50 % of the reads of the last hour were served within 15 min, the target is 90 %';
    const problem = { kind: 'burning', isFatal: false, message };
    expect(group.health()).toEqual({
      ok: true,
      problems: [],
      notices: [
        { name: 'a', ...problem },
        { name: 'c', ...problem },
      ],
    });
  });

  it.each([
    [{ within: 0, target: 0.5 }, 'freshness.within must be a duration over 0'],
    [{ within: 1, target: 0 }, 'freshness.target must be a number over 0, at most 1'],
    [{ within: 1, target: 99.9 }, 'freshness.target must be a number over 0, at most 1'],
    [{ within: 1, target: 1, whithin: 1 }, 'did you mean freshness.within'],
    [null, 'freshness.within must be'],
    ['', 'freshness.within must be'],
  ])('is checked: %o', (wrong, message) => {
    expect(() => fakeValue(() => 1, { freshness: wrong as never })).toThrow(OptionError);
    expect(() => fakeValue(() => 1, { freshness: wrong as never })).toThrow(message);
  });
});
