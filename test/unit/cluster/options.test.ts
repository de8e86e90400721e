import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { isTicklessError, RefreshGroup, RefreshingCache, RefreshingValue } from '../../../src/index.ts';
import { asLock } from '../../../src/records/lock/as-lock.ts';
import { problemsIn } from '../../support/option-errors.ts';
import { lockOf, methodsOf, storeOf } from '../../support/parts.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';

const backend = memoryBackend();
const [lock, store] = [lockOf(backend), storeOf(backend)];

/** What a value with those options says of them. */
function problemsOf(options: object, name = 'v'): string[] {
  const error = thrownBy(() => new RefreshingValue({ name, load: () => 1, ...options }));
  return problemsIn(error).map(({ option, rule }) => `${option} ${rule}`);
}

/** A lock or a store that takes names of so many bytes. */
function upTo<E extends object>(engine: E, longestName: number): E {
  return Object.assign(Object.create(engine) as E, { longestName });
}

describe('options of clusters', () => {
  it('a lock is one of asLock, or that of a backend', () => {
    const rule =
      "lock must be a backend, such as redisBackend({ client }) of 'tickless/redis', or asLock(object) of 'tickless/backend'";
    for (const wrong of [{}, 'redis', null, true, { ...lock }])
      expect(problemsOf({ lock: wrong })).toEqual([rule]);
  });

  it.each([
    ['must be a finite duration over 0', 0],
    ['must be a finite duration over 0', -1],
    ['must be a finite duration over 0', Number.NaN],
    ['must be a finite duration over 0', Number.POSITIVE_INFINITY],
    ['must not be longer than 365 d', Number.MAX_SAFE_INTEGER],
    ['must be a number of milliseconds', '30'],
    ['must be a number of milliseconds', { seconds: 30 }],
  ])('asLock refuses a lease that %s: %j', (rule, leaseFor) => {
    const broken = { acquire() {}, extend() {}, release() {}, leaseFor };
    expect(() => asLock(broken as never)).toThrow(`leaseFor ${rule}`);
  });

  it('false opts out of the backend of the group', () => {
    const group = new RefreshGroup({ backend });
    const load = (): number => 1;
    const of = (options: object): unknown => group.value({ load, name: 'v', ...options }).inspect().lock;
    expect(of({})).toBeDefined();
    expect(of({ name: 'none', backend: false })).toBeUndefined();
    expect(group.cache({ name: 'c', load, backend: false }).inspect(1)).toBeUndefined();
    expect(group.executor(load, { name: 't', backend: false }).inspect().lock).toBeUndefined();
  });

  it('whenBackendDown is load or skip', () => {
    expect(problemsOf({ lock, whenBackendDown: 'wait' })[0]).toMatch(/^whenBackendDown /);
    for (const whenBackendDown of ['load', 'skip'] as const) {
      new RefreshingValue({ name: 'v', load: () => 1, lock, whenBackendDown });
    }
  });

  it('a name must be one that lock and store can take, in bytes', () => {
    const options = { backend: { lock: upTo(lock, 8), store: upTo(store, 4) } };
    expect(problemsOf(options, 'a'.repeat(9))).toEqual([
      'name must be at most 8 bytes long',
      'name must be at most 4 bytes long',
    ]);
    expect(problemsOf({ lock: upTo(lock, 8) }, 'é'.repeat(5))).toHaveLength(1);
    new RefreshingValue({ name: 'éééé', load: () => 1, lock: upTo(lock, 8) });
  });

  it('of a cache it depends on the key: the load of one that is too long fails, the others are well', async () => {
    const short = methodsOf(lockOf(memoryBackend()));
    const strict: typeof short = {
      ...short,
      longestName: 10,
      acquire: async (request) => {
        if (request.name.length > 10) throw thrownBy(() => lockOf(memoryBackend({ leaseFor: -1 })));
        return short.acquire(request);
      },
    };
    const cache = new RefreshingCache({
      name: 'c',
      load: async (key: string) => key,
      lock: asLock(strict),
      logger: false,
    });
    expect(await cache.get('x')).toBe('x');
    const error = (await rejectionOf(cache.get('a key that is too long'))) as Error;
    expect(isTicklessError(error.cause, 'OPTION')).toBe(true);
  });
});
