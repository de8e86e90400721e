import type { InstanceReport, Store, StoredReport } from '../../../src/cluster/store-contract.ts';
import { between, ensure, present, rejects, same, sameList } from '../../../src/testing/assert.ts';
import { AWKWARD_NAMES, namesFrom, sleep, UNSTORABLE_TEXTS } from '../../../src/testing/conformance.ts';
import { withTimeout } from '../../../src/time/with-timeout.ts';
import { type Case, type StoreCaseContext, TOKEN } from './case-context.ts';

type Versions = NonNullable<Store['versions']>;

/** As many as one instance may ask for. */
const MOST_NAMES = 1000;

/** A case of `versions`; it passes for a store without the step. */
function versionsCase(
  name: string,
  run: (context: StoreCaseContext, versions: Versions) => Promise<void>,
  needs: Case['needs'] = 'always',
): Case {
  return {
    name: `versions: ${name}`,
    needs,
    run: async (context) => {
      if (context.other.versions !== undefined) await run(context, context.other.versions);
    },
  };
}

/** A case of reports, in a namespace of its own. */
function reportCase(
  name: string,
  run: (context: StoreCaseContext, reports: Reports, other: Reports) => Promise<void>,
): Case {
  return {
    name: `reports: ${name}`,
    needs: 'inNamespace',
    run: async (context) =>
      run(context, await Reports.in(context, context.name), await Reports.in(context, context.name)),
  };
}

/** The reports of a namespace. */
class Reports {
  readonly store: Store;
  readonly #keepFor: number;

  private constructor(store: Store, keepFor: number) {
    this.store = store;
    this.#keepFor = keepFor;
  }

  static async in({ subject, unit }: StoreCaseContext, namespace: string): Promise<Reports> {
    return new Reports((await subject.inNamespace?.(namespace)) as Store, 400 * unit);
  }

  report(
    instance: string,
    text: string,
    keepFor: number = this.#keepFor,
    serial?: number,
  ): Promise<readonly number[]> {
    return this.store.versions([], { instance, text, keepFor, serial });
  }

  async list(): Promise<readonly StoredReport[]> {
    return this.store.reports();
  }

  /** Each as instance and text, in the order of instances. */
  async has(expected: readonly (readonly [string, string])[], what: string): Promise<void> {
    const shown = (await this.list()).map(({ instance, text }) => JSON.stringify([instance, text]));
    const sorted = expected.map((one) => JSON.stringify(one)).sort();
    sameList(shown.sort(), sorted, what);
  }
}

/** The optional steps of checks. */
export const CHECKS: readonly Case[] = [
  versionsCase('of each name the present one, at its index', async (context, versions) => {
    const names = namesFrom(context.name, ['z', 'none', 'a', 'ahead', 'brief', 'clock']);
    const [z, none, a, ahead, brief, clock] = names as [string, string, string, string, string, string];
    await context.written('z', TOKEN, { name: z });
    for (const token of [TOKEN + 1, TOKEN + 2]) await context.written('a', token, { name: a });
    await context.written('ahead', Number.MAX_SAFE_INTEGER - 1, { name: ahead });
    await context.written('brief', TOKEN + 3, { name: brief, keepFor: 400 * context.unit });
    const written = await context.written('clock', undefined, { name: clock });
    sameList(await versions(names), [TOKEN, 0, TOKEN + 2, 0, TOKEN + 3, written], 'versions');
    sameList(await versions([clock, none, z]), [written, 0, TOKEN], 'versions of some, in another order');
    await context.store.delete(z);
    sameList(await versions([z]), [0], 'versions after delete');
    sameList(await versions([]), [], 'versions of no names');
  }),

  versionsCase(`${MOST_NAMES} names, and awkward ones, are one call`, async (context, versions) => {
    const awkward = namesFrom(context.name, AWKWARD_NAMES);
    for (const [i, name] of awkward.entries()) await context.written('payload', TOKEN + i, { name });
    const absent = Array.from({ length: MOST_NAMES - awkward.length }, (_, i) => `absent ${i}`);
    const found = await versions([...namesFrom(context.name, absent), ...awkward]);
    sameList(found, [...absent.map(() => 0), ...awkward.map((_, i) => TOKEN + i)], 'versions');
  }),

  versionsCase('an invalid argument is an OPTION error without effect', async (context, versions) => {
    const { name } = context;
    const report = { instance: 'a', text: '[]', keepFor: 1000 };
    const isRefused = (names: readonly string[], changes: Partial<InstanceReport>, what: string) =>
      rejects(versions(names, { ...report, ...changes }), 'OPTION', what);
    await isRefused([name, name], {}, 'a name that occurs twice');
    await isRefused([''], {}, 'an empty name');
    for (const text of UNSTORABLE_TEXTS)
      await isRefused([], { text }, 'a text that not every backend stores');
    await isRefused([], { instance: '' }, 'an empty instance');
    await isRefused([], { instance: 'x'.repeat(201) }, 'a long instance');
    await isRefused([], { text: '\u00e9'.repeat(32_769) }, 'a text of more than 64 kB');
    for (const keepFor of [0, -1, NaN, Infinity]) await isRefused([], { keepFor }, `${keepFor} ms`);
    for (const serial of [-1, 0.5, NaN]) await isRefused([], { serial }, `the serial ${serial}`);
  }),

  versionsCase(
    'an unreachable backend rejects with BACKEND_DOWN, within ten seconds',
    async ({ subject, name }) => {
      const store = present(await subject.unreachable?.(), 'unreachable') as Store;
      await withTimeout(() => rejects(store.versions([name]), 'BACKEND_DOWN', 'versions'), 10_000);
    },
    'unreachable',
  ),

  reportCase('are listed with their age, beside the versions', async (context, reports, other) => {
    const { unit } = context;
    await other.has([], 'at first');
    context.willWrite(`${context.name}/n`);
    await reports.store.write('n', 'payload', TOKEN);
    const report = { instance: 'a', text: '{"b":1}', keepFor: 400 * unit };
    sameList(await reports.store.versions(['n', 'none'], report), [TOKEN, 0], 'the versions with a report');
    await sleep(2 * unit);
    await reports.report('b', 'grüße');
    await other.has([['a', '{"b":1}'], ['b', 'grüße']], 'both'); // biome-ignore format: one line
    const ages = new Map((await other.list()).map(({ instance, age }) => [instance, age]));
    between(ages.get('a'), unit, 100 * unit, 'the age of the first');
    between(ages.get('b'), 0, (ages.get('a') as number) - unit, 'the age of the second');
  }),

  reportCase('one replaces that of the same instance', async (context, reports, other) => {
    await reports.report('a', 'long '.repeat(100), context.unit);
    await reports.report('b', 'b');
    await other.report('a', 'short');
    await sleep(3 * context.unit);
    await reports.has([['a', 'short'], ['b', 'b']], 'after the keepFor of the first'); // biome-ignore format: one line
    ensure(
      (await reports.list()).every(({ age }) => age >= 2 * context.unit),
      'the ages do not count from the writes',
    );
  }),

  reportCase('one with a lower serial replaces none', async (context, reports, other) => {
    await reports.report('a', 'first', 400 * context.unit, 1);
    await other.report('a', 'third', 400 * context.unit, 3);
    await reports.report('a', 'second', 400 * context.unit, 2);
    await other.has([['a', 'third']], 'the reports');
    await reports.report('a', 'fourth', 400 * context.unit, 4);
    await other.has([['a', 'fourth']], 'the reports');
  }),

  reportCase('one expires after its keepFor', async (context, reports, other) => {
    await reports.report('kept', 'kept');
    await reports.report('brief', 'brief', 3 * context.unit);
    same((await other.list()).length, 2, 'how many before');
    await sleep(5 * context.unit);
    await other.has([['kept', 'kept']], 'after it');
    await reports.report('brief', 'again');
    await other.has([['kept', 'kept'], ['brief', 'again']], 'written again'); // biome-ignore format: one line
  }),

  reportCase('of 20 concurrent ones each is kept', async (_, reports, other) => {
    const all = Array.from({ length: 20 }, (_, i) => [`instance ${i}`, `text ${i}`] as const);
    await Promise.all(all.map(([instance, text], i) => (i % 2 ? reports : other).report(instance, text)));
    await reports.has(all, 'the reports');
  }),

  reportCase('any instance and text up to 64 kB is stored unchanged', async (_, reports, other) => {
    const texts = ['{"a":"grüße"}', `it's "\\" :name $1 %`, ' \r\n', '\u00e9'.repeat(32_768)];
    const longest = '\u{1f680}'.repeat(100);
    const all = [longest, ...AWKWARD_NAMES].map(
      (name, i) => [name, texts[i % texts.length]] as [string, string],
    );
    for (const [instance, text] of all) await reports.report(instance, text);
    await other.has(all, 'the reports');
  }),

  reportCase('none is a snapshot, whatever the name', async (context, reports, other) => {
    const names = ['a', 'reports', 'fleet', '/a', `${context.name.length}/${context.name}/a`];
    await reports.report('a', 'report');
    for (const name of names) same(await other.store.read(name), undefined, `the snapshot ${name}`);
    for (const name of names) {
      context.willWrite(`${context.name}/${name}`);
      await other.store.write(name, 'payload', TOKEN);
      same(await other.store.delete(name), true, `delete of ${name}`);
    }
    await reports.has([['a', 'report']], 'after that');
  }),
];
