import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { JsonCheck } from '../../src/records/store/json-check.ts';
import { decodeInChunks, encodeInChunks } from '../../src/records/store/text-in-chunks.ts';
import { decodeWhole, encodeWhole } from '../../src/records/store/whole-text.ts';
import { graph, plain, shapeOf } from '../support/shapes.ts';

const turn = async (): Promise<void> => {};

async function throughParts(value: unknown, mostWeight: number): Promise<unknown> {
  const text = await encodeInChunks(value, new JsonCheck(value), turn, mostWeight);
  return text.startsWith('parts:') ? decodeInChunks(text, turn) : decodeWhole(text);
}

/** The value that is decoded from one text; `undefined`: devalue refuses it. */
function throughOne(value: unknown): { readonly value: unknown } | undefined {
  try {
    return { value: decodeWhole(encodeWhole(value)) };
  } catch {
    return undefined;
  }
}

describe('a value that is encoded in parts is decoded as from one text', () => {
  const property = (values: fc.Arbitrary<unknown>): fc.IAsyncPropertyWithHooks<[unknown, number]> =>
    fc.asyncProperty(values, fc.integer({ min: 1, max: 30 }), async (value, mostWeight) => {
      const whole = throughOne(value);
      fc.pre(whole !== undefined);
      deepStrictEqual(shapeOf(await throughParts(value, mostWeight)), shapeOf(whole?.value));
    });

  it('of all kinds that are kept', () => fc.assert(property(plain), { numRuns: 1000 }));

  it('also with shared objects and rings', () => fc.assert(property(graph), { numRuns: 1000 }));
});
