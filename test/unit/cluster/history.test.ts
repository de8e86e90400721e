import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { isTicklessError, RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { warmOne } from '../../support/cluster.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { rejectionOf } from '../../support/settle.ts';

describe('history', () => {
  it('lists the versions in the store, with the process that published each', async () => {
    const clock = new FakeClock();
    const backend = memoryBackend({ clock, keepVersions: 2 });
    const values = ['one', 'two', 'three'];
    const value = new RefreshingValue({ name: 'v', load: () => values.shift() ?? '', backend, clock });
    expect(await value.history()).toEqual([]);
    for (const _ of [1, 2, 3]) {
      await value.refresh();
      await clock.advance(1000);
    }
    const [present, before, ...others] = await value.history();
    expect(others).toEqual([]);
    expect(present?.version).toBe(value.inspect().lock?.version);
    expect([present?.age, before?.age]).toEqual([1000, 2000]);
    const about = { host: hostname(), by: undefined, note: undefined, bytes: expect.any(Number) };
    for (const record of [present, before]) expect(record).toMatchObject(about);
    expect(present?.owner?.split('-')[0]).toBe(`${process.pid}`);
    const kept = await storeOf(backend).read('v', undefined, before?.version);
    expect(kept?.payload).toMatch(/"two"$/);
  });

  it('rejects with BACKEND_DOWN when the store does not answer, at once while it rests', async () => {
    const { a } = await warmOne();
    a.link.break('refused', 'read');
    a.link.take();
    for (const _ of [1, 2]) {
      const error = await rejectionOf(a.value.history());
      expect(isTicklessError(error, 'BACKEND_DOWN')).toBe(true);
      expect(error).toMatchObject({ member: 'v', cause: { message: 'ECONNREFUSED' } });
    }
    expect(a.link.take()).toEqual(['read']);
    expect(a.value.current).toBe('one');
  });

  it.each([
    ['without a store', new RefreshingValue({ name: 'v', load: () => 1, lock: lockOf(memoryBackend()) })],
    ['without a store and a lock', new RefreshingValue({ name: 'v', load: () => 1 })],
  ])('%s it rejects with OPTION', async (_, value) => {
    const error = await rejectionOf(value.history());
    expect(isTicklessError(error, 'OPTION')).toBe(true);
    expect(error).toMatchObject({ member: 'v', message: expect.stringContaining('backend') });
  });
});
