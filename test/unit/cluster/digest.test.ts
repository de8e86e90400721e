import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';

/** With pairs of surrogates at the ends of slices, and one without its other half. */
const TEXTS = ['', 'prices', '€ 😀 \ud83d', `x${'😀'.repeat(2 ** 16)}`];

const inUtf8 = (text: string): string => createHash('sha256').update(text).digest('hex');

afterEach(() => vi.unstubAllGlobals());

describe.each([
  ['of Node', process],
  ['of a runtime without it', { getBuiltinModule: () => undefined }],
])('a digest by the hash %s', (_, own) => {
  it('is SHA-256 of UTF-8, also in slices', async () => {
    vi.resetModules();
    vi.stubGlobal('process', own);
    const { digestInSlices, digestOf } = await import('../../../src/cluster/digest.ts');
    vi.unstubAllGlobals();
    const yields = vi.fn(async () => {});
    expect(TEXTS.map(digestOf)).toEqual(TEXTS.map(inUtf8));
    const sliced = await Promise.all(TEXTS.map((text) => digestInSlices('head\n', text, yields)));
    expect(sliced).toEqual(TEXTS.map((text) => inUtf8(`head\n${text}`)));
    expect(yields).toHaveBeenCalled();
  });
});
