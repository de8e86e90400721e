import { between, ensure, present, rejects, same } from '../../src/testing/assert.ts';
import { AWKWARD_NAMES, type ConformanceCase, sleep } from '../../src/testing/conformance.ts';
import { withTimeout } from '../../src/time/with-timeout.ts';
import {
  type Case,
  StoreCaseContext,
  type StoreSubject,
  TOKEN,
  testCase,
} from './store-conformance/case-context.ts';
import { CHECKS } from './store-conformance/checks.ts';
import { CONFIRM } from './store-conformance/confirm.ts';
import { HISTORY } from './store-conformance/history.ts';
import { MANY } from './store-conformance/many.ts';

export type { StoreSubject } from './store-conformance/case-context.ts';

/**
 * Test cases for all promises of a `Store`, for any test runner. They use real time and their own names,
 * delete what they wrote, and may share a backend with other users. The cases of `versions` pass for a store
 * without it.
 *
 * @returns independent cases: they may run in any order, and concurrently.
 */
export function storeConformance(subject: StoreSubject): readonly ConformanceCase[] {
  const { unreachable, postdate, keepVersions, inNamespace } = subject;
  const has = { always: true, unreachable, postdate, keepVersions, inNamespace };
  return [...CASES, ...MANY, ...HISTORY, ...CONFIRM, ...CHECKS]
    .filter(({ needs }) => has[needs] !== undefined)
    .map(({ name, run }) => ({
      name,
      run: async () => (await StoreCaseContext.begin(subject)).run(run),
    }));
}

const CASES: readonly Case[] = [
  testCase('read: returns the payload with its version and age', async (context) => {
    await context.written('payload', TOKEN);
    const { version, payload, age, ...others } = await context.snapshot();
    same(version, TOKEN, 'version');
    same(payload, 'payload', 'payload');
    between(age, 0, 100 * context.unit, 'age, in milliseconds');
    same(Object.keys(others).length, 0, 'how many further fields');
  }),

  testCase('read: returns any text unchanged', async (context) => {
    for (const payload of [
      '',
      ' ',
      'null',
      '{"a":[1,"2",null]}',
      `it's "quoted" \\ and \\n not`,
      ' lines\r\nand\nmore\ttabs\n',
      'grüße, \u65e5\u672c\u8a9e, \u{1f680}, e\u0301 and \u00e9, \u2028\u2029\ufeff',
      '100% _ * ? [x] $1 :name ; -- /* */',
      '\ufeffbegins with a byte order mark',
    ]) {
      const version = await context.written(payload);
      await context.isStored(payload, version, JSON.stringify(payload));
    }
  }),

  testCase('read: returns a payload of two megabytes unchanged', async (context) => {
    const payload = Array.from({ length: 120_000 }, (_, i) => `${i}:\u00e9\u65e5\u{1f680}"`).join(',');
    const version = await context.written(payload);
    const snapshot = await context.snapshot();
    same(snapshot.version, version, 'version');
    ensure(snapshot.payload === payload, 'the payload was changed');
  }),

  testCase('age: begins at 0 and grows with time', async (context) => {
    const begin = performance.now();
    await context.written('payload', TOKEN);
    const first = (await context.snapshot()).age;
    const passed = performance.now() - begin;
    between(first, 0, passed + context.unit, 'age at first');
    await sleep(2 * context.unit);
    const grown = (await context.snapshot()).age - first;
    between(grown, context.unit, performance.now() - begin + context.unit, 'by how much the age has grown');
    await context.written('next', TOKEN + 1);
    between((await context.snapshot()).age, 0, first + grown - context.unit / 2, 'age of the next');
  }),

  {
    name: 'age: of a write in the backend’s future it is 0 up to a minute, then the snapshot is damaged',
    needs: 'postdate',
    async run(context) {
      await context.written('payload', TOKEN);
      await context.subject.postdate?.(context.name, 30_000);
      await context.isStored('payload', TOKEN, 'of half a minute ahead');
      same((await context.snapshot()).age, 0, 'age of half a minute ahead');
      await context.subject.postdate?.(context.name, 3_600_000);
      const { damage, payload } = await context.snapshot();
      ensure(typeof damage === 'string', `an hour ahead must be damage, got ${damage}`);
      same(payload, '', 'payload of an hour ahead');
      await context.written('next', TOKEN + 1);
      await context.isStored('next', TOKEN + 1, 'after the next write');
    },
  },

  testCase('write: a version more than a year ahead is damaged, and refuses nothing', async (context) => {
    const isDamaged = async (version: number): Promise<void> => {
      await context.written('ahead', version);
      const { damage } = await context.snapshot();
      ensure(typeof damage === 'string', `version ${version} must be damage, got ${damage}`);
      ensure(typeof (await context.snapshot()).damage === 'string', 'also for a second read');
    };
    await isDamaged(Number.MAX_SAFE_INTEGER - 1);
    await context.written('own', TOKEN);
    await context.isStored('own', TOKEN, 'after a write with a token');
    const clock = (await context.written('clock')) as number;
    await isDamaged(clock + 2 * 365 * 86_400_000_000);
    const version = await context.written('own again');
    between(version, clock - 10_000_000, clock + 86_400_000_000, 'the version after one two years ahead');
    await context.isStored('own again', version, 'after a write without a token');
    const month = version + 30 * 86_400_000_000;
    await context.written('a month ahead', month);
    same((await context.write('late', version + 1)).kind, 'refused', 'the answer to a token before that');
    await context.isStored('a month ahead', month, 'after that');
  }),

  testCase('write: a repeat of the same payload leaves the age as it is', async (context) => {
    await context.written('payload', TOKEN);
    await sleep(3 * context.unit);
    await context.written('payload', TOKEN, { store: context.other });
    const { age } = await context.snapshot();
    ensure(age >= 2 * context.unit, `the age of what was written before must go on, got ${age}`);
    await context.written('mended', TOKEN);
    const { age: next } = await context.snapshot();
    ensure(next < age, `what is written for the first time has an age of its own, got ${next}`);
  }),

  testCase('write: keepFor of a snapshot is over with the next write', async (context) => {
    const { unit } = context;
    await context.written('brief', TOKEN, { keepFor: 3 * unit });
    await context.written('next', TOKEN + 1, { store: context.other });
    await sleep(5 * unit);
    await context.isStored('next', TOKEN + 1, 'after the keepFor of the one before');
  }),

  testCase('write: of 20 concurrent tokens the highest remains', async (context) => {
    const tokens = Array.from({ length: 20 }, (_, i) => TOKEN + 1 + ((i * 7) % 20));
    const answers = await Promise.all(
      tokens.map((token, i) => {
        return context.write(`payload ${token}`, token, {
          store: i % 2 === 0 ? context.store : context.other,
        });
      }),
    );
    await context.isStored(`payload ${TOKEN + 20}`, TOKEN + 20, 'after all');
    answers.forEach(({ kind, version }, i) => {
      const token = tokens[i] as number;
      if (kind === 'written') same(version, token, 'the version of a write');
      else ensure(version > token, `${token} was refused for ${version}, which is not newer`);
    });
    same(answers[tokens.indexOf(TOKEN + 20)]?.kind, 'written', 'the answer to the highest');
  }),

  testCase('write: 20 concurrent writes without a token get 20 versions', async (context) => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => {
        return context.write(`payload ${i}`, undefined, {
          store: i % 2 === 0 ? context.store : context.other,
        });
      }),
    );
    const versions = answers.map(({ version }) => version);
    for (const { kind } of answers) same(kind, 'written', 'the answer of write');
    same(new Set(versions).size, 20, 'how many versions');
    const highest = Math.max(...versions);
    await context.isStored(`payload ${versions.indexOf(highest)}`, highest, 'after all');
  }),

  testCase('names: any text is a name, distinct from all others', async (context) => {
    const names = AWKWARD_NAMES.map((end) => `${context.name}-${end}`);
    for (const name of names) await context.written(`of ${name}`, TOKEN, { name });
    for (const name of names) same((await context.snapshot(name)).payload, `of ${name}`, 'payload');
    for (const name of names) {
      same(await context.store.delete(name), true, `delete of ${JSON.stringify(name)}`);
      same(await context.store.read(name), undefined, `read of ${JSON.stringify(name)}`);
      same(await context.store.delete(name), false, `second delete of ${JSON.stringify(name)}`);
    }
  }),

  testCase('names: up to longestName bytes long, no longer', async (context) => {
    const { longestName } = context.store;
    const longest = context.name.padEnd(longestName ?? 5000, 'x');
    const neighbour = `${longest.slice(0, -1)}y`;
    const room = (longestName ?? 5000) - context.name.length;
    const wide = context.name + '\u00e9'.repeat(Math.floor(room / 2)); // two bytes each
    for (const name of [longest, neighbour, wide]) await context.written(`of ${name}`, TOKEN, { name });
    for (const name of [longest, neighbour, wide]) {
      same((await context.snapshot(name)).payload, `of ${name}`, 'payload');
    }
    if (longestName === undefined) return;
    for (const name of [`${longest}x`, `${wide}\u00e9`]) {
      await rejects(context.store.write(name, ''), 'OPTION', 'write to a name too long');
      await rejects(context.store.read(name), 'OPTION', 'read of a name too long');
    }
  }),

  {
    name: 'unreachable: each step rejects with BACKEND_DOWN, within ten seconds',
    needs: 'unreachable',
    async run({ subject, name }) {
      const store = present(await subject.unreachable?.(), 'unreachable');
      const requests = [
        rejects(store.read(name), 'BACKEND_DOWN', 'read'),
        rejects(store.write(name, 'payload', TOKEN), 'BACKEND_DOWN', 'write'),
        rejects(store.delete(name), 'BACKEND_DOWN', 'delete'),
      ];
      await withTimeout(() => Promise.all(requests), 10_000);
    },
  },
];
