import { describe, expect, it } from 'vitest';
import { isClosedError, isLoadError, RefreshGroup, RefreshingCache } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { manualValue } from '../../support/manual-value.ts';

const READERS = 1000;

/** Reads of a value and of a key, whose loads end when the test says so. */
const reads = {
  'a value': (manual: ManualLoad<string>) => {
    const { value } = manualValue({ load: manual.load });
    return () => value.get();
  },
  'a key': (manual: ManualLoad<string>) => {
    const load = (_key: string, context: Parameters<typeof manual.load>[0]) => manual.load(context);
    const cache = new RefreshingCache({ name: 'c', load, clock: new FakeClock(), logger: false });
    return () => cache.get('k');
  },
};

describe.each(Object.entries(reads))('a crowd of first readers of %s', (_, open) => {
  it('shares one load, and its value', async () => {
    const manual = new ManualLoad<string>();
    const read = open(manual);
    const all = Array.from({ length: READERS }, read);
    expect(manual.calls).toHaveLength(1);
    manual.call(0).resolve('one');
    expect(new Set(await Promise.all(all))).toEqual(new Set(['one']));
    expect(await read()).toBe('one');
    expect(manual.calls).toHaveLength(1);
  });

  it('shares its failure', async () => {
    const manual = new ManualLoad<string>();
    const all = Array.from({ length: READERS }, open(manual));
    manual.call(0).reject(new TypeError('broken'));
    const outcomes = await Promise.allSettled(all);
    const errors = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : undefined));
    expect(new Set(errors).size).toBe(1);
    expect(isLoadError(errors[0])).toBe(true);
    expect(manual.calls).toHaveLength(1);
  });
});

it('a reader who may give up leaves the crowd alone', async () => {
  const { manual, value } = manualValue();
  const [before, { signal, abort }] = [value.get(), withAbort()];
  const patient = value.get({ signal });
  const after = value.get();
  abort(new Error('enough'));
  await expect(patient).rejects.toThrow('enough');
  manual.call(0).resolve('one');
  expect(await Promise.all([before, after])).toEqual(['one', 'one']);
});

it('a reader hurries a first load that still waits for its turn', () => {
  const group = new RefreshGroup({ clock: new FakeClock() });
  let loads = 0;
  const value = group.value({ name: 'v', load: () => ++loads });
  group.requestStart();
  expect([loads, value.inspect().running]).toEqual([0, true]);
  void value.get();
  expect(loads).toBe(1); // on the stack of the reader
});

it('after close nobody joins, where that is to throw', async () => {
  const { manual, value } = manualValue({ whenClosed: 'throw' });
  const before = value.get();
  const closed = value.close({ timeout: 1000 });
  const error = await value.get().catch((reason: unknown) => reason);
  expect(isClosedError(error)).toBe(true);
  manual.call(0).resolve('one');
  expect(await before).toBe('one');
  await closed;
});

it('who joins starts what is due among the others of the group', async () => {
  const clock = new FakeClock();
  const group = new RefreshGroup({ clock, piggyback: true, timeout: Infinity });
  const cold = new ManualLoad<string>();
  let loads = 0;
  const other = group.value({ name: 'other', load: async () => ++loads, schedule: 1000 });
  await other.get();
  const value = group.value({ name: 'cold', load: cold.load, schedule: { hours: 1 } });
  const first = value.get();
  await clock.advance(2000);
  expect(loads).toBe(1);
  const joined = value.get();
  await clock.flush();
  expect(loads).toBe(2);
  cold.call(0).resolve('one');
  expect(await Promise.all([first, joined])).toEqual(['one', 'one']);
});

function withAbort(): { readonly signal: AbortSignal; readonly abort: (reason: Error) => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
}
