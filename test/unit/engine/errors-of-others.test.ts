import { describe, expect, it } from 'vitest';
import { RefreshingCache, RefreshingValue, TicklessError } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { rejectionOf } from '../../support/settle.ts';

const quiet = { clock: new FakeClock(), logger: false, retry: false } as const;

describe('a load that fails with the error of another member is a failed load of its own', () => {
  it.each([
    [
      'its lock is down',
      (about) => new TicklessError('BACKEND_DOWN', 'the backend is unavailable: down', about),
    ],
    ['its lease is lost', (about) => new TicklessError('LEASE_LOST', 'the lease is lost', about)],
    ['its value is refused', (about) => new TicklessError('REFUSED', 'value refused: too few', about)],
  ] as [string, (about: { member: string; key?: unknown }) => Error][])('%s', async (_, errorOf) => {
    const ofOther = errorOf({ member: 'other' });
    const value = new RefreshingValue({ ...quiet, name: 'v', load: () => Promise.reject(ofOther) });
    expect(await rejectionOf(value.get())).toMatchObject({
      code: 'LOAD_FAILED',
      member: 'v',
      cause: ofOther,
    });
    const ofKey = errorOf({ member: 'c', key: 1 });
    const cache = new RefreshingCache<number, number>({
      ...quiet,
      name: 'c',
      load: () => Promise.reject(ofKey),
    });
    expect(await rejectionOf(cache.get(2))).toMatchObject({ code: 'LOAD_FAILED', key: 2, cause: ofKey });
  });
});
