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

  it('are too many only when they have doubled, where most of them could not be forgotten', () => {
    const epochs = marked(10_001);
    epochs.forget(1);
    expect(epochs.isCrowded).toBe(false);
    for (let tag = 0; tag < 10_000; tag++) epochs.markTag(`more ${tag}`);
    expect(epochs.isCrowded).toBe(false);
    epochs.markTag('one more');
    expect(epochs.isCrowded).toBe(true);
  });
});
