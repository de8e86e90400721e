import { expect, it } from 'vitest';
import { RefreshingValue, TicklessError } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { fakeCache } from '../../support/fake-cache.ts';
import { rejectionOf } from '../../support/settle.ts';

const quiet = { clock: new FakeClock(), logger: false, retry: false } as const;

it.each([
  [
    'its lock is down',
    (about) => new TicklessError('BACKEND_DOWN', 'the backend is unavailable: down', about),
  ],
  ['its lease is lost', (about) => new TicklessError('LEASE_LOST', 'the lease is lost', about)],
  ['its value is refused', (about) => new TicklessError('REFUSED', 'value refused: too few', about)],
] as [string, (about: { member: string; key?: unknown }) => Error][])(
  'a load that fails with the error of another member is a failed load of its own: %s',
  async (_, errorOf) => {
    const ofOther = errorOf({ member: 'other' });
    const value = new RefreshingValue({ ...quiet, name: 'v', load: () => Promise.reject(ofOther) });
    const error = { code: 'LOAD_FAILED', member: 'v', cause: ofOther };
    expect(await rejectionOf(value.get())).toMatchObject(error);
    const ofKey = errorOf({ member: 'c', key: 1 });
    const { cache } = fakeCache<number, number>({ load: () => Promise.reject(ofKey) });
    expect(await rejectionOf(cache.get(2))).toMatchObject({ code: 'LOAD_FAILED', key: 2, cause: ofKey });
  },
);
