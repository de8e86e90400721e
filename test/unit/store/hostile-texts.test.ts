import { describe, expect, it } from 'vitest';
import { differenceOf } from '../../../src/data/difference.ts';
import { defaultCodec } from '../../../src/records/store/default-codec.ts';

const decode = async (text: string): Promise<unknown> => defaultCodec.decode(text);

/** A value of chunks: each line is JSON, or a text of devalue. */
const inChunks = (...lines: readonly unknown[]): string =>
  ['parts:', ...lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))].join('\n');

describe('a text in the store that costs more than its length is refused:', () => {
  const digits = '9'.repeat(100_001);
  const buffer = `["ArrayBuffer","${'A'.repeat(4_000_000)}"]`; // 3 MB
  const views = Array.from({ length: 40 }, (_, i) => i + 1);
  it.each<[what: string, text: string]>([
    ['a sparse array of all places', 'devalue:[[-7,4294967295]]'],
    ['one within an object', 'devalue:[{"a":1},[-7,4294967295]]'],
    ['one of more places than a text of its length may have', 'devalue:[[-7,1000500]]'],
    ['several that have too many together', 'devalue:[[1,2,3],[-7,400000],[-7,400000],[-7,400000]]'],
    ['one in a chunk', inChunks('devalue:[[1,2],[],[3],[-7,4294967295]]')],
    [
      'many views of one buffer',
      `devalue:[${[JSON.stringify(views), ...views.map(() => '["Uint8Array",41]'), buffer]}]`,
    ],
    ['a BigInt of many digits', `devalue:[["BigInt","${digits}"]]`],
    ['deep JSON', '['.repeat(10_001) + ']'.repeat(10_001)],
    ['a deep text of devalue', `devalue:${'['.repeat(10_001)}${']'.repeat(10_001)}`],
    ['JSON of little else than brackets', `[${'[],'.repeat(2 ** 22)}1]`],
    [
      'chunks that open an array in an array without end',
      inChunks(...Array.from({ length: 1000 }, () => ['array', false])),
    ],
    [
      'a chunk that sets the length of an array',
      inChunks(
        'devalue:[[1,2,3],[],[4],[5,6,7,8],[],[4],[6],[9],[10],"length",0]'.replace('0]', '4294967295]'),
      ),
    ],
    [
      'a chunk whose gap is far beyond the end of an array',
      inChunks(
        ['array', true],
        'devalue:[[1,2,3],[],[4],{"shared":5,"holders":6,"keys":7,"numbers":8},[],[],[4],[9],[10],4294967294,0]',
      ),
    ],
    [
      'a chunk with a key that is not a text',
      inChunks(['object', false], 'devalue:[[1,2],[3],[4],[5,5],1,[6,6],[]]'),
    ],
  ])('%s', async (_, text) => {
    await expect(decode(text)).rejects.toThrow();
  });
});

describe('sparse arrays and views that the text pays for', () => {
  it.each([1_000_000, 3000])('an array with one element at place %i is kept', async (last) => {
    const sparse: unknown[] = [];
    sparse[last - 1] = 'x';
    const back = (await decode((await defaultCodec.encode(sparse)) as string)) as unknown[];
    expect([back.length, Object.entries(back)]).toEqual([last, [[String(last - 1), 'x']]]);
  });

  it('a long array with a hole is kept', async () => {
    const long = Array.from({ length: 300_000 }, (_, i) => i);
    delete long[7];
    const back = (await decode((await defaultCodec.encode({ long })) as string)) as { long: number[] };
    expect([back.long.length, 7 in back.long, back.long.at(-1)]).toEqual([300_000, false, 299_999]);
  });

  it('parts of one buffer are kept', async () => {
    const { buffer } = new Uint8Array(3_000_000).fill(7);
    const parts = Array.from({ length: 100 }, (_, i) => new Uint8Array(buffer, i * 30_000, 30_000));
    const back = (await decode((await defaultCodec.encode(parts)) as string)) as Uint8Array[];
    expect(back.map((part) => [part.length, part[0]])).toEqual(parts.map(() => [30_000, 7]));
  });

  it('an array that no other instance would read is not written', () => {
    const sparse: unknown[] = [];
    sparse[4_294_967_294] = 1;
    const encoded = async (): Promise<unknown> => defaultCodec.encode({ sparse });
    return expect(encoded()).rejects.toThrow('places in sparse or typed arrays are too many');
  });
});

describe('a value with the same part very often', () => {
  const doubling = (end: unknown): string => {
    const levels = Array.from({ length: 60 }, (_, i) => [i + 1, i + 1]);
    return `devalue:${JSON.stringify([...levels, end])}`;
  };

  it('is read, and compared part by part once', async () => {
    const [a, b, c] = await Promise.all([doubling('x'), doubling('x'), doubling('y')].map(decode));
    const counts = async (before: object, after: object): Promise<readonly number[]> => {
      const { unchanged, changed } = await differenceOf(before, after); // its samples are without end
      return [unchanged, changed.count];
    };
    expect(await counts({ a }, { a: b })).toEqual([1, 0]);
    expect(await counts({ a }, { a: c })).toEqual([0, 1]);
  });
});
