import { describe, expect, it } from 'vitest';
import type { Overview } from '../../../src/console/overview.ts';
import { emptyText } from '../../../src/console/words.ts';
import { absent, RefreshGroup, RefreshingCache } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { TestConsole } from '../../support/console.ts';
import { fakeCache } from '../../support/fake-cache.ts';
import { fakeValue, loadedManualValue, manualValue } from '../../support/manual-value.ts';

const LOAD = 'LOAD_FAILED';
const COOLING_DOWN = 'COOLING_DOWN';
const STALE = 'TOO_STALE';

const refused = async (read: () => Promise<unknown>): Promise<void> => void (await read().catch(() => {}));

describe('reads that are refused are counted, each once', () => {
  it('those that waited for a load that failed, and those of its cool-down', async () => {
    const { value, manual } = manualValue();
    const waiting = Array.from({ length: 90 }, () => value.get());
    const patient = Array.from({ length: 5 }, () => value.get({ patience: 10 }));
    const told = Array.from({ length: 4 }, () => value.read());
    manual.call(0).reject(new Error('down'));
    await Promise.allSettled([...waiting, ...patient, ...told]);
    expect(() => value.current).toThrow('down');
    await refused(() => value.get());
    expect(value.inspect().counts).toMatchObject({
      reads: 101,
      readsFailed: { [LOAD]: 99, NOT_LOADED: 1, [COOLING_DOWN]: 1 },
    });
  });

  it('those beyond their age limits, whose reload fails or may not start', async () => {
    const { value, manual, clock } = await loadedManualValue();
    const read = refused(() => value.get({ maxStaleness: 0 }));
    await clock.flush();
    manual.call(1).reject(new Error('down'));
    await read;
    await refused(() => value.get({ maxStaleness: 0, patience: 10 }));
    expect(value.inspect().counts).toMatchObject({ readsFailed: { [STALE]: 2 } });
    const limits = { schedule: 500, maxStaleness: 1000, whenTooStale: 'throw' } as const;
    const { value: late, clock: its } = fakeValue(() => 1, limits);
    expect(late.current).toBe(1);
    await its.advance(2000);
    expect(() => late.current).toThrow('is 2 s old');
    expect(late.inspect().counts.readsFailed).toEqual({ [STALE]: 1 });
  });

  it('not mistakes, nor those that their own signal ended, nor those of absent keys', async () => {
    const { value, manual } = manualValue();
    await refused(() => value.get({ patience: -1 }));
    const abort = new AbortController();
    const left = refused(() => value.get({ signal: abort.signal }));
    abort.abort();
    await left;
    const served = value.get();
    manual.call(0).resolve('one');
    await served;
    const cache = new RefreshingCache({ name: 'c', load: () => absent(), clock: new FakeClock() });
    await refused(() => cache.get('no'));
    await refused(() => cache.get('no'));
    expect([value.inspect().counts.readsFailed, cache.inspect().counts.readsFailed]).toEqual([{}, {}]);
  });

  it('those of keys, also of getMany', async () => {
    const group = new RefreshGroup({ clock: new FakeClock(), logger: false, retry: false });
    const load = async (): Promise<number> => Promise.reject(new Error('down'));
    const cache = group.cache({ name: 'c', load });
    await refused(() => cache.getMany(['a', 'b']));
    await refused(() => cache.get('a'));
    expect(cache.inspect().counts).toMatchObject({ readsFailed: { [LOAD]: 2, [COOLING_DOWN]: 1 } });
  });
});

describe('the state tells whether a read would be refused now', () => {
  it('before the first load, while it fails, and when it has come', async () => {
    const { value, manual, clock } = manualValue();
    const seen = [value.inspect().refusesReads];
    const first = refused(() => value.get());
    seen.push(value.inspect().refusesReads);
    manual.call(0).reject(new Error('down'));
    await first;
    seen.push(value.inspect().refusesReads);
    await clock.advance(600_000); // the cool-down is over, and nothing is known to be better
    seen.push(value.inspect().refusesReads);
    const second = value.get();
    manual.call(1).resolve('one');
    await second;
    seen.push(value.inspect().refusesReads);
    expect(seen).toEqual([false, false, true, true, false]);
  });

  it('of a value that is paused without one, that must not be served, and of keys', async () => {
    const { value } = manualValue();
    value.pause();
    expect(value.inspect().refusesReads).toBe(true);
    const { value: failing } = fakeValue(() => Promise.reject(new Error('down')), { whenFailing: 'throw' });
    failing.set(1 as never);
    expect(failing.inspect().refusesReads).toBe(false);
    await refused(() => failing.refresh());
    expect(failing.inspect().refusesReads).toBe(true);
    const { cache } = fakeCache<string, string>({
      load: (key) => (key === 'none' ? absent() : Promise.reject(new Error('down'))),
    });
    await refused(() => cache.get('none'));
    await refused(() => cache.get('bad'));
    expect(['none', 'bad'].map((key) => cache.inspect(key)?.refusesReads)).toEqual([false, true]);
  });
});

it('the console names members whose reads are refused first, and those that were never read without alarm', async () => {
  const group = new RefreshGroup({ logger: false, retry: false, piggyback: false });
  const load = async (): Promise<number> => Promise.reject(new Error('down'));
  group.value({ name: 'unread', load, required: true });
  const console = new TestConsole({}, group);
  const rows = async (): Promise<unknown[]> => {
    const { body } = await console.get('api/overview');
    const { ok, members } = body as Overview;
    return [ok, ...members.map(({ name, level, here }) => [name, level, emptyText(here)])];
  };
  expect(await rows()).toEqual([true, ['unread', 'note', 'not read yet']]);
  const value = group.value({ name: 'down', load });
  const cache = group.cache({ name: 'keys', load });
  await Promise.allSettled([value.get(), value.get(), cache.get('a')]);
  // On a busy machine the page gets the overview of a moment ago.
  await expect
    .poll(rows)
    .toEqual([
      false,
      ['down', 'bad', 'no value'],
      ['keys', 'bad', 'no value'],
      ['unread', 'note', 'not read yet'],
    ]);
  value.set(1);
  cache.set('b', 1);
  await expect
    .poll(async () => (await rows()).slice(0, 3))
    .toEqual([true, ['keys', 'warn', 'no value'], ['unread', 'note', 'not read yet']]);
});
