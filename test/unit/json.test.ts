import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../src/backends/memory.ts';
import { RefreshGroup, RefreshingCache, TicklessError } from '../../src/index.ts';
import { optionError } from '../../src/option-error.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { lockOf } from '../support/parts.ts';

const parsed = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** A group with a value that was loaded once and fails since. */
async function failing() {
  const clock = new FakeClock();
  const group = new RefreshGroup({ clock, logger: false, retry: { retries: 0 } });
  let isDown = false;
  const load = async (): Promise<object> => {
    if (isDown)
      throw Object.assign(new TypeError('fetch failed', { cause: new Error('ECONN') }), { secret: 1 });
    return { password: 'x' };
  };
  const value = group.value({ name: 'v', load, schedule: Infinity, lock: lockOf(memoryBackend({ clock })) });
  const cache = group.cache({ name: 'c', load: (key: string) => key });
  await cache.get('k');
  await value.get();
  isDown = true;
  await value.refresh().catch(() => {});
  return { group, value, cache };
}

describe('JSON', () => {
  it('of executions has their keys as text, whatever they are', async () => {
    const itself: { self?: unknown } = {};
    itself.self = itself;
    const cache = new RefreshingCache({ name: 'c', load: (_key: unknown) => 1, keyOf: () => 'k' });
    for (const key of [1n, itself, Object.create(null)]) {
      await cache.get(key);
      cache.delete(key);
    }
    const { executions } = parsed(cache.inspect()) as { readonly executions: readonly { key: string }[] };
    expect(executions.map(({ key }) => key)).toEqual(['a key that cannot be read', '[object Object]', '1']);
  });

  it('of an error has its message, code, own details and causes; nothing else of other errors', async () => {
    const { value } = await failing();
    expect(parsed(value.inspect().lastError)).toEqual({
      name: 'TicklessError',
      code: 'LOAD_FAILED',
      message: 'v: load failed: fetch failed: ECONN',
      member: 'v',
      attempts: 1,
      cause: { name: 'TypeError', message: 'fetch failed', cause: { name: 'Error', message: 'ECONN' } },
    });
    const cooling = new TicklessError('COOLING_DOWN', 'later', {
      member: 'c',
      key: 'k',
      retryAt: Infinity,
      cause: 5n,
    });
    expect(parsed(cooling)).toMatchObject({ key: 'k', retryAt: 'Infinity', cause: '5' });
    const invalid = optionError([{ option: 'o', rule: 'must not', received: 1n }], { member: 'c' });
    expect(parsed(invalid)).toMatchObject({ message: 'c: o must not, received 1', member: 'c' });
    const round = new TicklessError('ABSENT', 'gone', { member: 'c', retryAt: 0, key: { id: 1n } });
    (round as Error).cause = round;
    expect(parsed(round)).toMatchObject({ message: 'c[[object Object]]: gone', key: '[object Object]' });
    expect(round).toBeInstanceOf(TicklessError);
  });

  it('of a status keeps Infinity and errors, also those inside', async () => {
    const { value, cache } = await failing();
    expect(parsed(value.inspect())).toMatchObject({
      nextExecuteTime: 'Infinity',
      maxStaleness: 'Infinity',
      lastError: { code: 'LOAD_FAILED', message: expect.stringContaining('fetch failed') },
      lock: { isHolder: expect.any(Boolean) },
      value: { password: 'x' },
    });
    expect(parsed(cache.inspect('k'))).toMatchObject({ value: 'k', state: 'fresh' });
    expect(Object.keys(value.inspect())).not.toContain('toJSON');
  });

  it('of a group keeps them of its members; without their values on request', async () => {
    const { group, value, cache } = await failing();
    const json = { nextExecuteTime: 'Infinity', lastError: { message: expect.stringContaining('ECONN') } };
    expect(parsed(group.inspect())).toMatchObject({
      members: [
        { ...json, value: {} },
        { name: 'c', size: 1 },
      ],
    });
    const safe = group.inspect({ values: false });
    expect(JSON.stringify(safe)).not.toContain('password');
    expect(parsed(safe)).toMatchObject({ members: [json, { name: 'c', size: 1 }] });
    expect(safe.members[0]).not.toHaveProperty('value');
    expect(value.inspect({ values: false })).not.toHaveProperty('value');
    expect(cache.inspect('k', { values: false })).toMatchObject({ state: 'fresh' });
    expect(cache.inspect('k', { values: false })).not.toHaveProperty('value');
    expect(parsed(group.health())).toMatchObject({
      ok: true,
      problems: [{ error: { code: 'LOAD_FAILED' } }],
    });
  });
});
