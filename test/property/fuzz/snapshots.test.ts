import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { absent, loaded } from '../../../src/index.ts';
import { isOutcome } from '../../support/events.ts';
import { expectReadable, expectUnpolluted, foreignText } from './support/hostile.ts';
import { mutation } from './support/mutations.ts';
import { runs } from './support/runs.ts';
import { heldBy, keyedReadOf, LOADED, payloadOf, readOf, rowOf, StubBackend } from './support/stored.ts';

// Texts in a store: instances use them exactly as they were written, or reject them.

afterEach(expectUnpolluted);

const REJECTED = /^warn tickless: v: snapshot of version 5 rejected: /;

/** The snapshot is not used: the value is loaded, and the reason is logged. */
async function expectRejected(payload: string): Promise<void> {
  const held = heldBy(new StubBackend(rowOf(payload)));
  const quiet = await readOf(held, false);
  expect(quiet.value).toBe(LOADED);
  expect(quiet.lines).toHaveLength(1);
  expect(quiet.lines[0]).toMatch(REJECTED);
  expectReadable(quiet.lines[0] as string);
  const listening = await readOf(held, true);
  expect(listening.value).toBe(LOADED);
  expect(listening.events.filter(isOutcome('refused'))).toMatchObject([
    { name: 'v', version: 5, error: { message: expect.stringMatching(/./) } },
  ]);
  expect(listening.lines).toEqual(quiet.lines);
}

async function expectTaken(payload: string, value: unknown): Promise<void> {
  const { value: read, lines } = await readOf(heldBy(new StubBackend(rowOf(payload))), false);
  expect(JSON.stringify(read)).toBe(JSON.stringify(value));
  expect(lines).toEqual([]);
}

/** With numbers and texts that are of the same kind when a part of them is missing. */
const value = fc.oneof(
  fc.jsonValue(),
  fc.nat(),
  fc.array(fc.nat(), { minLength: 1 }),
  fc.string({ unit: 'binary' }),
  fc.dictionary(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true })),
);

/** At any depth. */
function hasOwnProto(thing: unknown): boolean {
  if (typeof thing !== 'object' || thing === null) return false;
  return Object.hasOwn(thing, '__proto__') || Object.values(thing).some(hasOwnProto);
}

describe('a text in the store', () => {
  it('that was written is read; damaged in any way it is not', async () => {
    await fc.assert(
      fc.asyncProperty(value, value, mutation, async (held, other, mutate) => {
        const [payload, others] = await Promise.all([held, other].map((one) => payloadOf(one)));
        if (payload === undefined || others === undefined) {
          // JSON would lose -0, and devalue takes no key `__proto__`: such a value is not published.
          expect([held, other].some((one) => hasOwnProto(one))).toBe(true);
          return;
        }
        const mutated = mutate(payload, others);
        if (mutated === payload) await expectTaken(mutated, held);
        else if (mutated === others) await expectTaken(mutated, other);
        else await expectRejected(mutated);
      }),
      runs(600),
    );
  });

  it.each<[string, unknown, object]>([
    ['a number', 123_456, {}],
    ['a text', 'EUR 1.08', {}],
    ['an object', { rates: { USD: 1.08 }, at: [1, 2, 3] }, {}],
    ['with all that a load can say', loaded(7, { tags: ['a', 'b\u2028c"d\ne'], maxStaleness: 5000 }), {}],
    ['never due', 12, { schedule: Number.POSITIVE_INFINITY }],
  ])('truncated at any place is rejected: %s', async (_, brought, own) => {
    const payload = (await payloadOf(brought, own)) as string;
    for (let end = 0; end < payload.length; end++) await expectRejected(payload.slice(0, end));
    expect((await readOf(heldBy(new StubBackend(rowOf(payload))), false)).value).not.toBe(LOADED);
  });

  it('of another program is not read', async () => {
    await fc.assert(fc.asyncProperty(foreignText, expectRejected), runs(400));
  });

  it('of a custom codec, as bytes or as text, is read as it was written or not at all', async () => {
    const asBytes = {
      format: 'bytes/1',
      encode: (one: unknown) => new TextEncoder().encode(String(one)),
      decode: (bytes: string | Uint8Array) => new TextDecoder().decode(bytes as Uint8Array),
    };
    const asText = { format: 'text/1', encode: String, decode: String };
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(asBytes, asText),
        fc.string(),
        mutation,
        async (codec, held, mutate) => {
          const engine = new StubBackend(undefined);
          await readOf(heldBy(engine, { codec }), false, { load: async () => held });
          const payload = engine.written[0] as string;
          const mutated = mutate(payload, payload);
          const { value: read, lines } = await readOf(
            heldBy(new StubBackend(rowOf(mutated)), { codec }),
            false,
          );
          expect(read).toBe(mutated === payload ? held : LOADED);
          expect(lines).toHaveLength(mutated === payload ? 0 : 1);
        },
      ),
      runs(300),
    );
  });
});

it('a text in the store, of a key, that was written is read, absent ones too; damaged in any way it is not', async () => {
  await fc.assert(
    fc.asyncProperty(fc.option(fc.jsonValue(), { nil: undefined }), mutation, async (held, mutate) => {
      const engine = new StubBackend(undefined);
      await keyedReadOf(heldBy(engine), async () => (held === undefined ? absent() : held));
      const payload = engine.written[0] as string;
      const mutated = mutate(payload, payload);
      const { value: read, events } = await keyedReadOf(heldBy(new StubBackend(rowOf(mutated))));
      const rejections = events.filter(isOutcome('refused'));
      if (mutated !== payload) {
        expect(read).toBe(LOADED);
        expect(rejections).toMatchObject([{ name: 'c', key: 'k', version: 5 }]);
      } else {
        expect(rejections).toEqual([]);
        if (held === undefined) expect(read).toMatchObject({ code: 'ABSENT' });
        else expect(JSON.stringify(read)).toBe(JSON.stringify(held));
      }
    }),
    runs(300),
  );
});
