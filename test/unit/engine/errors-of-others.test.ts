import { describe, expect, it } from 'vitest';
import {
  LeaseLostError,
  LockUnavailableError,
  RefreshingCache,
  RefreshingValue,
  ValueRejectedError,
} from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { rejectionOf } from '../../support/settle.ts';

const quiet = { clock: new FakeClock(), logger: false, retry: false } as const;
const refused = { reason: 'too few', size: 1, previousSize: undefined };

describe('a load that fails with the error of another member is a failed load of its own', () => {
  it.each([
    ['its lock is down', (about) => new LockUnavailableError('the lock is unavailable: down', about)],
    ['its lease is lost', (about) => new LeaseLostError('the lease is lost', { ...about, token: 1 })],
    ['its value is refused', (about) => new ValueRejectedError({ ...about, ...refused })],
  ] as [string, (about: { cacheName: string; key?: unknown }) => Error][])('%s', async (_, errorOf) => {
    const ofOther = errorOf({ cacheName: 'other' });
    const value = new RefreshingValue({ ...quiet, name: 'v', load: () => Promise.reject(ofOther) });
    expect(await rejectionOf(value.get())).toMatchObject({
      name: 'LoadError',
      cacheName: 'v',
      cause: ofOther,
    });
    const ofKey = errorOf({ cacheName: 'c', key: 1 });
    const cache = new RefreshingCache<number, number>({
      ...quiet,
      name: 'c',
      load: () => Promise.reject(ofKey),
    });
    expect(await rejectionOf(cache.get(2))).toMatchObject({ name: 'LoadError', key: 2, cause: ofKey });
  });
});
