import { describe, expect, it } from 'vitest';
import { Outage } from '../../../src/observe/outage.ts';

const MINUTE = 60_000;

describe('Outage', () => {
  it('of keys that are no longer read ends with any success, a minute after they could have been tried again', () => {
    const outage = new Outage();
    outage.failed(0, { id: 'a', retryAt: 5000 });
    outage.failed(0, { id: 'b', retryAt: 1000 });
    expect(outage.succeeded(2000, 'b')).toBeUndefined();
    expect(outage.succeeded(4999 + MINUTE, 'b')).toBeUndefined();
    expect(outage.succeeded(5000 + MINUTE, 'b')).toEqual({
      lasted: 5000 + MINUTE,
      failures: 2,
      keys: 2,
      refused: 0,
    });
    expect(outage.isOpen).toBe(false);
  });

  it('is logged at most once a minute, also where it is over and begins again', () => {
    const outage = new Outage();
    const logged: number[] = [];
    for (let now = 0; now < 5 * MINUTE; now += 700) {
      if (outage.failed(now, { retryAt: now })) logged.push(now);
      if (now % 1400 === 0) outage.succeeded(now + 1);
    }
    expect(logged).toEqual([0, 60_200, 120_400, 180_600, 240_800]);
  });

  it('asks for a line at once where reads begin to be refused, once a minute; then as for failures', () => {
    const outage = new Outage();
    const logged: string[] = [];
    for (let now = 0; now < 3 * MINUTE; now += 5000) {
      if (outage.failed(now, { retryAt: now })) {
        logged.push(`${now / 1000} failed`);
        if (now > 20_000) outage.refusalLogged(now);
      }
      if (now < 20_000 || !outage.refused(now, { retryAt: now }, 2)) continue;
      logged.push(`${now / 1000} refused`);
      outage.refusalLogged(now);
    }
    expect(logged).toEqual(['0 failed', '20 refused', '80 failed', '140 failed']);
    expect(outage.succeeded(3 * MINUTE)).toMatchObject({ failures: 36, refused: 64 });
    expect(outage.refused(3 * MINUTE, { retryAt: 0 }, 1)).toBe(false); // a minute after 140
    expect(outage.succeeded(3 * MINUTE + 1)).toBeUndefined();
    expect(outage.refused(200_000, { retryAt: 0 }, 1)).toBe(true);
    expect(outage.at(200_000)).toMatchObject({ lasted: 0, refused: 2 }); // with the one that was not logged
  });

  it('of parts is over when each that has failed has succeeded, however long that takes', () => {
    const outage = new Outage();
    outage.failed(0, { part: 'lock', retryAt: Infinity });
    outage.failed(1, { part: 'store', retryAt: Infinity });
    expect(outage.succeeded(60 * MINUTE, 'store')).toBeUndefined();
    expect(outage.succeeded(61 * MINUTE, 'lock')).toMatchObject({ failures: 2, keys: 0 });
  });

  it('remembers a bounded number of keys', () => {
    const outage = new Outage();
    for (let id = 0; id < 20_000; id++) outage.failed(0, { id, retryAt: 0 });
    expect(outage.at(0)).toEqual({ lasted: 0, failures: 20_000, keys: 10_000, refused: 0 });
  });
});
