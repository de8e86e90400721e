import { describe, expect, it } from 'vitest';
import { isLoadError, RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { rejectionOf } from '../../support/settle.ts';

describe('rule 3: concurrent first reads share one load, and its failure', () => {
  it('10,000 first reads, one load', async () => {
    const manual = new ManualLoad<number>();
    const value = new RefreshingValue({ name: 'v', load: manual.load });
    const reads = Array.from({ length: 10_000 }, () => value.get());
    expect(manual.calls).toHaveLength(1);
    manual.call(0).resolve(7);
    expect(new Set(await Promise.all(reads))).toEqual(new Set([7]));
  });

  it('10,000 first reads that fail, one load, one LoadError', async () => {
    const manual = new ManualLoad<number>();
    const value = new RefreshingValue({ name: 'v', load: manual.load, clock: new FakeClock() });
    const rejections = Array.from({ length: 10_000 }, () => rejectionOf(value.get()));
    const cause = new Error('no route');
    manual.call(0).reject(cause);
    const errors = new Set(await Promise.all(rejections));
    expect(errors.size).toBe(1);
    const [error] = errors;
    expect(isLoadError(error) && error.cause).toBe(cause);
    expect(manual.calls).toHaveLength(1);
  });

  it('however they ask, one load', async () => {
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
});
