import { describe, expect, it } from 'vitest';
import { isTicklessError, RefreshingCache, RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { manualValue } from '../../support/manual-value.ts';

const READERS = 10_000;

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

describe.each(Object.entries(reads))('rule 3: 10,000 concurrent first reads of %s', (_, open) => {
  it('share one load, and its value', async () => {
    const manual = new ManualLoad<string>();
    const read = open(manual);
    const all = Array.from({ length: READERS }, read);
    expect(manual.calls).toHaveLength(1);
    manual.call(0).resolve('one');
    expect(new Set(await Promise.all(all))).toEqual(new Set(['one']));
    expect(await read()).toBe('one');
    expect(manual.calls).toHaveLength(1);
  });

  it('share its failure', async () => {
    const manual = new ManualLoad<string>();
    const all = Array.from({ length: READERS }, open(manual));
    const cause = new TypeError('broken');
    manual.call(0).reject(cause);
    const outcomes = await Promise.allSettled(all);
    const errors = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : undefined));
    expect(new Set(errors).size).toBe(1);
    expect(isTicklessError(errors[0], 'LOAD_FAILED') && errors[0].cause).toBe(cause);
    expect(manual.calls).toHaveLength(1);
  });
});

it('rule 3: however they ask, first reads share one load', async () => {
  const manual = new ManualLoad<number>();
  const value = new RefreshingValue({ name: 'v', load: manual.load, clock: new FakeClock() });
  const { signal } = new AbortController();
  const reads = [value.get(), value.get({ signal }), value.get({ patience: 100 }), value.get()];
  const started = [value.requestStart(), value.requestStart({ wait: true })];
  expect(() => value.current).toThrow();
  expect(manual.calls).toHaveLength(1);
  manual.call(0).resolve(7);
  expect(await Promise.all(reads)).toEqual([7, 7, 7, 7]);
  await Promise.all(started);
  expect(manual.calls).toHaveLength(1);
});
