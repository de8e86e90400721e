import type { Store, WriteAnswer } from '../../../src/cluster/store-contract.ts';
import { same, sameList } from '../../../src/testing/assert.ts';
import { AWKWARD_NAMES, namesFrom } from '../../../src/testing/conformance.ts';
import { type Case, type StoreCaseContext, TOKEN, testCase } from './case-context.ts';

/** More than one command of many services may contain. */
const MORE_NAMES = 101;

/** Writes all names at once: the steps of one turn of the event loop may share a command. */
function writeAll(
  context: StoreCaseContext,
  store: Store,
  names: readonly string[],
  payloadOf: (name: string) => string,
  token: number,
): Promise<WriteAnswer[]> {
  for (const name of names) context.willWrite(name);
  return Promise.all(names.map((name) => store.write(name, payloadOf(name), token)));
}

async function payloadsOf(store: Store, names: readonly string[]): Promise<(string | undefined)[]> {
  return (await Promise.all(names.map((name) => store.read(name)))).map((read) => read?.payload);
}

/** The steps for several names at once; `recordsConformance` has those that are not of a store alone. */
export const MANY: readonly Case[] = [
  testCase('many: of overlapping calls in opposite order the highest token remains', async (context) => {
    const { store, other } = context;
    const numbers = Array.from({ length: 30 }, (_, i) => `${i}`);
    const names = namesFrom(context.name, numbers);
    const answers = await Promise.all(
      [store, other, store, other].map((each, i) =>
        writeAll(context, each, i % 2 === 0 ? names : names.toReversed(), () => `payload ${i}`, TOKEN + i),
      ),
    );
    for (const { kind, version } of answers.at(-1) ?? [])
      sameList([kind, version], ['written', TOKEN + 3], 'the highest token');
    const last = names.map(() => 'payload 3');
    sameList(await payloadsOf(other, names), last, 'the payloads');
  }),

  testCase(`many: ${MORE_NAMES} names at once, and awkward ones`, async (context) => {
    const { store } = context;
    const ends = [...AWKWARD_NAMES, ...Array.from({ length: MORE_NAMES }, (_, i) => `${i}`)];
    const names = namesFrom(context.name, ends);
    for (const { kind } of await writeAll(context, store, names, (name) => `of ${name}`, TOKEN))
      same(kind, 'written', 'write');
    const payloads = names.map((name) => `of ${name}`);
    sameList(await payloadsOf(store, names), payloads, 'the payloads');
  }),
];
