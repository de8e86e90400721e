import { describe, expect, it } from 'vitest';
import { Epochs } from '../../../src/cache/epochs.ts';

/** Epochs with marks of that number of tags, `t1` first. */
function marked(count: number): Epochs {
  const epochs = new Epochs();
  for (let tag = 1; tag <= count; tag++) epochs.markTag(`t${tag}`);
  return epochs;
}

describe('the marks of tags', () => {
  it('are too many beyond 10,000', () => {
    const epochs = marked(10_000);
    expect(epochs.isCrowded).toBe(false);
    epochs.markTag('t1'); // which has one already
    expect(epochs.isCrowded).toBe(false);
    epochs.markTag('one more');
    expect(epochs.isCrowded).toBe(true);
  });

  it('are forgotten up to an epoch, and no further', () => {
    const epochs = marked(3);
    epochs.forget(2);
    expect(['t1', 't2', 't3'].map((tag) => epochs.isOutdated(0, [tag]))).toEqual([false, false, true]);
  });

  it('are too many only when they have doubled, where most of them could not be forgotten', () => {
    const epochs = marked(10_001);
    epochs.forget(1);
    expect(epochs.isCrowded).toBe(false);
    for (let tag = 0; tag < 10_000; tag++) epochs.markTag(`more ${tag}`);
    expect(epochs.isCrowded).toBe(false);
    epochs.markTag('one more');
    expect(epochs.isCrowded).toBe(true);
  });

  it('are removed when all is marked', () => {
    const epochs = marked(10_001);
    epochs.markAll();
    expect([epochs.isCrowded, epochs.isOutdated(10_001, undefined)]).toEqual([false, true]);
    expect(epochs.isOutdated(epochs.now, ['t1'])).toBe(false);
  });

  it('count for an entry with the tag, if set since it was validated', () => {
    const epochs = marked(2);
    expect([0, 1, 2].map((validatedEpoch) => epochs.isOutdated(validatedEpoch, ['none', 't2']))).toEqual([
      true,
      true,
      false,
    ]);
    expect([epochs.isOutdated(1, ['t1']), epochs.isOutdated(0, [])]).toEqual([false, false]);
    expect(epochs.isOutdated(0, undefined)).toBe(false);
  });
});
