import { withMetadata } from '../../../src/cluster/snapshot.ts';
import type { Store } from '../../../src/cluster/store-contract.ts';
import { between, ensure, rejects, same, sameList } from '../../../src/testing/assert.ts';
import { namesFrom, sleep } from '../../../src/testing/conformance.ts';
import { type Case, type StoreCaseContext, TOKEN, testCase } from './case-context.ts';

/** A case of stores with a history. */
function historyCase(name: string, run: (context: StoreCaseContext, most: number) => Promise<void>): Case {
  return {
    name: `history: ${name}`,
    needs: 'keepVersions',
    run: (context) => run(context, context.subject.keepVersions ?? 1),
  };
}

async function versionsOf({ other, name: own }: StoreCaseContext, name: string = own): Promise<number[]> {
  return (await (other as Store).history(name)).map(({ version }) => version);
}

/** Each listed version can be read, and is the payload that was written for it. */
async function isKept(
  context: StoreCaseContext,
  expected: readonly (readonly [number, string])[],
): Promise<void> {
  const versions = expected.map(([version]) => version);
  sameList(await versionsOf(context), versions, 'the versions of the history');
  for (const [version, payload] of expected) {
    const read = await context.other.read(context.name, undefined, version);
    sameList([read?.version, read?.payload], [version, payload], `the version ${version - TOKEN}`);
  }
}

/** The versions before the present one. */
export const HISTORY: readonly Case[] = [
  testCase('history: lists the present snapshot', async (context) => {
    const { history } = context.other;
    if (history === undefined) return;
    sameList(await history(context.name), [], 'the history of nothing');
    await context.written('grüße', TOKEN);
    const [record, ...others] = await history(context.name);
    sameList([record?.version, record?.bytes, others.length], [TOKEN, 7, 0], 'version, bytes, and others');
    between(record?.age as number, 0, 100 * context.unit, 'age, in milliseconds');
    sameList([record?.owner, record?.note], [undefined, undefined], 'owner and note of a foreign text');
    await rejects(history(''), 'OPTION', 'the history of an empty name');
  }),

  historyCase('lists and reads the newest versions, no more', async (context, most) => {
    const all = Array.from({ length: most + 2 }, (_, i) => [TOKEN + i, `payload ${i}`] as const).reverse();
    for (const [token, payload] of all.toReversed()) await context.written(payload, token);
    await isKept(context, all.slice(0, most));
    const [gone] = all[most] as readonly [number, string];
    same(await context.other.read(context.name, undefined, gone), undefined, 'a version that is not kept');
    same(await context.other.read(context.name, TOKEN + most + 2, TOKEN + most), undefined, 'newer than it');
    const clock = await context.written('by the clock');
    await isKept(context, [[clock, 'by the clock'] as const, ...all].slice(0, most));
  }),

  historyCase('each version has an age and a size of its own', async (context) => {
    await context.written('long '.repeat(10_000), TOKEN);
    await sleep(2 * context.unit);
    await context.written('short', TOKEN + 1);
    const [present, before] = await (context.other as Store).history(context.name);
    sameList([present?.bytes, before?.bytes], [5, 50_000], 'the bytes');
    const difference = (before?.age as number) - (present?.age as number);
    between(difference, context.unit, 100 * context.unit, 'the difference of the ages');
  }),

  historyCase('a rejected version, and one far ahead, go with the next write', async (context) => {
    await context.written('one', TOKEN);
    await context.written('garbage', TOKEN + 5);
    await context.written('two', TOKEN + 2, { rejected: TOKEN + 5 });
    const kept = [[TOKEN + 2, 'two'] as const, [TOKEN, 'one'] as const];
    await isKept(context, kept);
    await context.written('ahead', Number.MAX_SAFE_INTEGER - 1);
    const [ahead, before] = await (context.other as Store).history(context.name);
    sameList([typeof ahead?.damage, before?.damage], ['string', undefined], 'the types of the damage');
    same((await context.other.read(context.name, undefined, TOKEN + 2))?.payload, 'two', 'the one before');
    await context.written('three', TOKEN + 3);
    await isKept(context, [[TOKEN + 3, 'three'], ...kept]);
  }),

  historyCase('of 20 concurrent tokens those are kept that were written, in order', async (context, most) => {
    const tokens = Array.from({ length: 20 }, (_, i) => TOKEN + 1 + ((i * 7) % 20));
    const answers = await Promise.all(
      tokens.map((token, i) =>
        context.write(`payload ${token}`, token, { store: i % 2 === 0 ? context.store : context.other }),
      ),
    );
    const written = tokens.filter((_, i) => answers[i]?.kind === 'written');
    const versions = await versionsOf(context);
    same(versions[0], TOKEN + 20, 'the newest version');
    same(versions.length, Math.min(written.length, most), 'how many');
    for (const [i, version] of versions.entries()) {
      ensure(written.includes(version), `${version} was not written`);
      ensure(i === 0 || version < (versions[i - 1] as number), `${version} is not in order`);
    }
  }),

  historyCase('of several names that are written at once each has its versions', async (context, most) => {
    const names = namesFrom(context.name, ['b', 'absent', 'older', 'a']);
    for (const name of names) context.willWrite(name);
    const [b, absent, older, a] = names as [string, string, string, string];
    for (let i = 0; i < most + 1; i += 1) {
      await Promise.all(names.map((name) => context.store.write(name, `payload ${i}`, TOKEN + i)));
    }
    const token = TOKEN + most + 1;
    await Promise.all([
      context.store.write(b, 'next', token),
      context.store.write(absent, 'absent', token, undefined, 400 * context.unit),
      context.store.write(older, 'older', TOKEN),
    ]);
    const last = Array.from({ length: most + 1 }, (_, i) => TOKEN + i).reverse();
    sameList(await versionsOf(context, b), [token, ...last].slice(0, most), 'the versions of a written name');
    sameList(await versionsOf(context, absent), [token], 'the versions of an absent one');
    for (const name of [older, a]) {
      sameList(await versionsOf(context, name), last.slice(0, most), 'the versions of another name');
    }
    const { version } = await context.store.write(a, 'by the clock');
    sameList(await versionsOf(context, a), [version, ...last].slice(0, most), 'without a token');
  }),

  historyCase('a snapshot names its publisher, and the reason', async (context) => {
    const body = { format: 'json/1', text: '[1]', isText: true, sum: undefined, digest: undefined };
    const metadata = {
      isAbsent: false,
      isLimitScheduled: false,
      age: 0,
      dueIn: 0,
      isDueTimeOverridden: false,
      took: 0,
    };
    const payload = withMetadata(
      body,
      { ...metadata, maxStaleness: undefined, tags: undefined, meta: undefined, headers: undefined },
      { kind: 'value', name: context.name },
      { by: 'ada', note: 'grüße' },
    );
    await context.written(payload, TOKEN);
    await context.written('next', TOKEN + 1);
    const [, record] = await (context.other as Store).history(context.name);
    sameList([record?.by, record?.note], ['ada', 'grüße'], 'by and note');
    ensure(
      typeof record?.owner === 'string' && typeof record.host === 'string',
      'it must have owner and host',
    );
  }),
];
