import type { SnapshotStore, StoredSnapshot, WriteAnswer } from '../../../src/cluster/store-contract.ts';
import { between, ensure, present, rejects, same, sameList } from '../../../src/testing/assert.ts';
import { AWKWARD_NAMES, namesFrom, sleep } from '../../../src/testing/conformance.ts';
import { withTimeout } from '../../../src/time/with-timeout.ts';
import { type Case, type StoreCaseContext, TOKEN } from './case-context.ts';

/** The arguments of a write, by their names. */
interface Write {
  readonly name: string;
  readonly payload: string;
  readonly token?: number | undefined;
  readonly rejected?: number | undefined;
  readonly keepFor?: number | undefined;
}

/** More than one command of many services may contain. */
const MORE_NAMES = 101;

/** A case of several names that are asked for at once: the steps of one turn of the event loop may share a command. */
function manyCase(
  name: string,
  run: (context: StoreCaseContext, one: Many, another: Many) => Promise<void>,
  needs: Case['needs'] = 'always',
): Case {
  return {
    name: `many: ${name}`,
    needs,
    run: (context) => run(context, new Many(context, context.store), new Many(context, context.other)),
  };
}

/** The steps of a store for several names at once. */
class Many {
  readonly #context: StoreCaseContext;
  readonly #store: SnapshotStore;

  constructor(context: StoreCaseContext, store: SnapshotStore) {
    this.#context = context;
    this.#store = store;
  }

  read(
    reads: readonly { readonly name: string; readonly newerThan?: number }[],
  ): Promise<(StoredSnapshot | undefined)[]> {
    return Promise.all(reads.map(({ name, newerThan }) => this.#store.read(name, newerThan)));
  }

  write(writes: readonly Write[]): Promise<WriteAnswer[]> {
    const write = ({ name, payload, token, rejected, keepFor }: Write): Promise<WriteAnswer> => {
      this.#context.willWrite(name);
      return this.#store.write(name, payload, token, rejected, keepFor);
    };
    return Promise.all(writes.map(write));
  }

  /** The payloads of the names; `undefined`: none. */
  async payloads(names: readonly string[]): Promise<(string | undefined)[]> {
    return (await this.read(names.map((name) => ({ name })))).map((read) => read?.payload);
  }
}

function shown({ kind, version }: WriteAnswer): string {
  return `${kind} ${version}`;
}

/** The steps for several names at once. */
export const MANY: readonly Case[] = [
  manyCase('each read gets the snapshot of its name, if it is newer', async (context, one) => {
    const names = namesFrom(context.name, ['z', 'none', 'same', 'a', 'newer']);
    const [z, none, same_, a, newer] = names as [string, string, string, string, string];
    for (const [i, name] of [z, same_, a, newer].entries())
      await context.written(`of ${name}`, TOKEN + i, { name });
    const found = await one.read([
      { name: z },
      { name: none },
      { name: same_, newerThan: TOKEN + 1 },
      { name: a, newerThan: TOKEN + 1 },
      { name: newer, newerThan: TOKEN + 2 },
    ]);
    sameList(
      found.map((read) => read && `${read.version} ${read.payload}`),
      [`${TOKEN} of ${z}`, undefined, undefined, `${TOKEN + 2} of ${a}`, `${TOKEN + 3} of ${newer}`],
      'read',
    );
    for (const read of found) if (read !== undefined) between(read.age, 0, 100 * context.unit, 'age');
  }),

  manyCase('each write is the same step as a single one', async (context, one, another) => {
    const names = namesFrom(context.name, ['z', 'older', 'same', 'a', 'rejected', 'wrongly']);
    for (const name of names.slice(1)) await context.written('before', TOKEN, { name });
    const requests = [TOKEN + 2, TOKEN - 1, TOKEN, TOKEN + 3, TOKEN - 1, TOKEN - 1].map((token, i) => ({
      ...{ name: names[i] as string, payload: `payload ${i}`, token },
      rejected: [undefined, undefined, undefined, undefined, TOKEN, TOKEN + 1][i],
    }));
    sameList(
      (await one.write(requests)).map(shown),
      [
        `written ${TOKEN + 2}`,
        `refused ${TOKEN}`,
        `written ${TOKEN}`,
        `written ${TOKEN + 3}`,
        `written ${TOKEN - 1}`,
        `refused ${TOKEN}`,
      ],
      'write',
    );
    const after = ['payload 0', 'before', 'payload 2', 'payload 3', 'payload 4', 'before'];
    sameList(await another.payloads(names), after, 'the payloads');
  }),

  manyCase('without a token the versions grow', async (context, one, another) => {
    const names = namesFrom(context.name, ['b', 'ahead', 'a']);
    const ahead =
      (await context.written('before', undefined, { name: names[1] as string })) + 1_000_000_000_000;
    await context.written('ahead', ahead, { name: names[1] as string });
    let last = [0, ahead, 0];
    for (const payload of ['first', 'second']) {
      const answers = await one.write(names.map((name) => ({ name, payload })));
      for (const [i, { kind, version }] of answers.entries()) {
        same(kind, 'written', 'the answer of a write');
        ensure(version > (last[i] as number), `the version must grow: ${last[i]} before, ${version} now`);
        same((await context.snapshot(names[i] as string)).version, version, 'the version that is stored');
      }
      last = answers.map(({ version }) => version);
      sameList(await another.payloads(names), [payload, payload, payload], 'the payloads');
    }
    same(last[1], ahead + 2, 'the version after one ahead of the clock');
  }),

  manyCase('the keepFor of one name is that of no other', async (context, one) => {
    const names = namesFrom(context.name, ['c', 'brief', 'a']);
    for (const token of [TOKEN, undefined]) {
      const payload = `with the token ${token}`;
      await one.write(
        names.map((name, i) => ({ name, payload, token, keepFor: i === 1 ? context.unit : undefined })),
      );
      await sleep(3 * context.unit);
      const [first, , last] = await one.payloads(names);
      sameList([first, last], [payload, payload], 'the payloads');
    }
  }),

  manyCase(
    'of overlapping calls in opposite order the highest token remains',
    async (context, one, another) => {
      const names = namesFrom(
        context.name,
        Array.from({ length: 30 }, (_, i) => `${i}`),
      );
      const answers = await Promise.all(
        [one, another, one, another].map((many, i) => {
          const ordered = i % 2 === 0 ? names : names.toReversed();
          return many.write(ordered.map((name) => ({ name, payload: `payload ${i}`, token: TOKEN + i })));
        }),
      );
      const [, , , last] = answers as [WriteAnswer[], WriteAnswer[], WriteAnswer[], WriteAnswer[]];
      for (const { kind, version } of last)
        sameList([kind, version], ['written', TOKEN + 3], 'the highest token');
      const payloads = await another.payloads(names);
      sameList(
        payloads,
        names.map(() => 'payload 3'),
        'the payloads',
      );
    },
  ),

  manyCase(`${MORE_NAMES} names at once, and awkward ones`, async (context, one) => {
    const ends = [...AWKWARD_NAMES, ...Array.from({ length: MORE_NAMES }, (_, i) => `${i}`)];
    const names = namesFrom(context.name, ends);
    const answers = await one.write(names.map((name) => ({ name, payload: `of ${name}`, token: TOKEN })));
    for (const answer of answers) same(shown(answer), `written ${TOKEN}`, 'write');
    const payloads = names.map((name) => `of ${name}`);
    sameList(await one.payloads(names), payloads, 'the payloads');
  }),

  manyCase('a damaged snapshot is that of its name alone', async (context, one) => {
    const names = namesFrom(context.name, ['a', 'b', 'c']);
    const tokens = [TOKEN, Number.MAX_SAFE_INTEGER - 1, TOKEN];
    await one.write(names.map((name, i) => ({ name, payload: 'payload', token: tokens[i] as number })));
    const [a, b, c] = await one.read(names.map((name) => ({ name })));
    sameList([a?.payload, b?.payload, c?.payload], ['payload', '', 'payload'], 'the payloads');
    sameList(
      [a, b, c].map((read) => typeof read?.damage),
      ['undefined', 'string', 'undefined'],
      'the types of the damage',
    );
    const next = await one.write(names.map((name) => ({ name, payload: 'next', token: TOKEN + 1 })));
    for (const answer of next) same(shown(answer), `written ${TOKEN + 1}`, 'the next write');
  }),

  manyCase('an invalid request is an OPTION error, and touches no other', async (context, one) => {
    const { store, name } = context;
    const [answer] = await Promise.all([
      one.write([{ name, payload: 'payload', token: TOKEN }]),
      rejects(store.write('', 'payload', TOKEN), 'OPTION', 'an empty name'),
      rejects(store.write(name, 'payload', 1.5), 'OPTION', 'a token that is none'),
    ]);
    same(shown(answer[0] as WriteAnswer), `written ${TOKEN}`, 'the sound one');
    const [read] = await Promise.all([
      store.read(name),
      rejects(store.read(name, 1.5), 'OPTION', 'a version that is none'),
    ]);
    same(read?.payload, 'payload', 'the payload');
  }),

  manyCase('of a name that is written twice at once the highest token remains', async (context, one) => {
    const names = namesFrom(context.name, ['a', 'b']);
    const tokens = [TOKEN + 1, TOKEN];
    await one.write(
      tokens.flatMap((token) => names.map((name) => ({ name, payload: `of ${token}`, token }))),
    );
    sameList(await one.payloads(names), [`of ${TOKEN + 1}`, `of ${TOKEN + 1}`], 'the payloads');
  }),

  manyCase(
    'an unreachable backend rejects with BACKEND_DOWN, within ten seconds',
    async ({ subject, name }) => {
      const store = present(await subject.unreachable?.(), 'unreachable') as SnapshotStore;
      const steps = namesFrom(name, ['a', 'b', 'c', 'd', 'e', 'f']).flatMap((one) => [
        rejects(store.read(one), 'BACKEND_DOWN', 'read'),
        rejects(store.write(one, 'payload'), 'BACKEND_DOWN', 'write'),
      ]);
      await withTimeout(() => Promise.all(steps), 10_000);
    },
    'unreachable',
  ),
];
