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
    expect(outage.succeeded(5000 + MINUTE, 'b')).toEqual({ lasted: 5000 + MINUTE, failures: 2, keys: 2 });
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

  it('counts failures that callers got, and has no end to log where they all were', () => {
    const outage = new Outage();
    expect(outage.failed(0, { retryAt: 0, reachedCaller: true })).toBe(false);
    expect(outage.succeeded(10)).toBeUndefined();
    expect(outage.failed(20, { retryAt: 0, reachedCaller: true })).toBe(false);
    expect(outage.failed(30, { retryAt: 0 })).toBe(true);
    expect(outage.succeeded(40)).toEqual({ lasted: 20, failures: 2, keys: 0 });
  });

  it('asks for a line where its cause has changed, once a minute', () => {
    const outage = new Outage();
    const logged: string[] = [];
    const kinds = ['refused', 'refused', 'timeout', 'refused', 'reset'];
    for (let now = 0; now < 3 * MINUTE; now += 5000) {
      const kind = kinds[Math.min(now / 5000, 4)] as string;
      if (outage.failed(now, { retryAt: now, kind })) logged.push(`${now / 1000} ${kind}`);
    }
    expect(logged).toEqual(['0 refused', '10 timeout', '60 reset', '120 reset']);
  });

  it('remembers a bounded number of keys', () => {
    const outage = new Outage();
    for (let id = 0; id < 20_000; id++) outage.failed(0, { id, retryAt: 0 });
    expect(outage.at(0)).toEqual({ lasted: 0, failures: 20_000, keys: 10_000 });
  });
});
