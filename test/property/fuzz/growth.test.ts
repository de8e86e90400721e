import fc, { type Arbitrary } from 'fast-check';
import { expect, it } from 'vitest';
import { cron } from '../../../src/calendar/index.ts';
import { withoutCredentials } from '../../../src/console/redact.ts';
import { deepEqual } from '../../../src/data/deep-equal.ts';
import { retryAfterMs } from '../../../src/engine/retry-after.ts';
import { References } from '../../../src/openfeature/references.ts';
import { printable } from '../../../src/printable.ts';
import { defaultCodec } from '../../../src/records/store/default-codec.ts';
import { decodeSignal } from '../../../src/signals/message.ts';
import { csv } from '../../../src/sources/csv.ts';
import { parseBody } from '../../../src/sources/parse.ts';
import { toMillis } from '../../../src/time/duration.ts';
import { reading } from './support/readings.ts';
import { runs } from './support/runs.ts';
import { ratioOfTimes } from './support/times.ts';

// Bytes from outside cost a time that grows with their length: ten times the input takes no more than fifty times as long. What grows with the
// square takes a hundred times as long.

const SMALL = 4000;
const LARGE = 10 * SMALL;

/** Below it the time is not looked at any closer, in milliseconds: of the processor, which other processes use too. */
const PROMPT_MS = 150;

type Work = (text: string) => unknown;

async function expectLinear(work: Work, text: (size: number) => string, factor = 1): Promise<void> {
  const large = text(LARGE * factor);
  const begun = process.cpuUsage();
  await work(large);
  const { user, system } = process.cpuUsage(begun);
  if ((user + system) / 1000 < PROMPT_MS) return;
  const small = text(SMALL * factor);
  const ratio = await ratioOfTimes(
    () => work(small),
    () => work(large),
  );
  expect(ratio).toBeLessThan(50);
}

/** A text of parts of these that repeats itself, between two others: what makes an expression try again and again. */
function repeated(parts: readonly string[]): Arbitrary<(size: number) => string> {
  const some = (minLength: number, maxLength: number): Arbitrary<string> =>
    fc.array(fc.constantFrom(...parts), { minLength, maxLength }).map((all) => all.join(''));
  return fc.tuple(some(0, 2), some(1, 4), some(0, 2)).map(([before, unit, after]) => {
    const text = (size: number): string =>
      before + unit.repeat(Math.ceil(size / unit.length)).slice(0, size) + after;
    return Object.assign(text, {
      toString: () => JSON.stringify([before, unit, after]),
      [fc.toStringMethod]: () => JSON.stringify([before, unit, after]),
    });
  });
}

const JSON_PARTS = [
  '[',
  ']',
  '{',
  '}',
  '{"a":',
  '"',
  '\\',
  '\\"',
  ',',
  ':',
  '1',
  '-',
  'e9',
  '.',
  'null',
  '[],',
  '{},',
  '"a":1,',
  ' ',
  '\n',
  '\r\n',
  '\u2028',
];
const CSV_PARTS = [
  'a',
  ',',
  ';',
  '\t',
  '|',
  '"',
  '""',
  '\n',
  '\r\n',
  '\r',
  ' ',
  '\ufeff',
  'sep=;',
  '\\',
  'é',
];
const SECRET_PARTS = [
  'token', 'password', 'password for ', 'secret', 'key', '_key', 'api', 'auth', 'AUTH ', 'args', 'hello', 'config', 'mysql', 'redis-cli', 'docker login', 'login',
  'identified with ', ' by ', 'SETUSER ', 'requirepass ', 'bearer ', 'basic ', 'eyJ', 'ghp_', 'sk-', 'AKIA', 'SG.', 'glpat-', 'hvs.', 'ya29.', '/bot123456:',
  'hooks.slack.com/services/', '-----BEGIN', ' PRIVATE KEY-----', '-----END', '://', 'redis://', 'a', 'A1', ':', '@', '%3a', '%2525', '%40', '%2F', '/', '?', '&', '=',
  '=>', '<', '>', '-', '--', ' -p', ' -u', '"', "'", '`', '\\', '\\\\\\\\', '[', ']', '{', '}', '.', ';', ',', '#', '…', '_', ' ', '\t', '\n', '[hidden]', 'é', '\ud800',
]; // biome-ignore format: a table
const HEADER_PARTS = [
  'max-age',
  '=',
  '1',
  '"',
  '\\',
  ',',
  ';',
  ' ',
  '\t',
  'no-cache',
  'private',
  'reset',
  'remaining',
  'w',
  'GMT',
  ':',
  '-',
  'a',
  '(',
  '9',
  'max-age=60,',
  'max-age="',
  'Sun, ',
  'Sun, 06 Nov 1994 08:49:37 GMT',
];
const RICH_PARTS = [
  '[',
  ']',
  '[1]',
  '[1,2]',
  '[-7,9,0,1]',
  '[-7,99999,3,1]',
  '["Set",1,2]',
  '["Map",1,2]',
  '["Object",1]',
  '["BigInt","9"]',
  '["Date",""]',
  '{"a":1}',
  '{"a":2}',
  ',',
  '-1',
  '-2',
  '1',
  '"a"',
  '["ArrayBuffer","AAAA"]',
  '["Uint8Array",1]',
  '["RegExp","(a+)+","g"]',
];

const ignored = async (work: () => unknown): Promise<void> => {
  try {
    await work();
  } catch {
    // refused, in time
  }
};

const SUBJECTS: Readonly<Record<string, readonly [parts: readonly string[], work: Work]>> = {
  'texts for operators': [SECRET_PARTS, (text) => withoutCredentials(text)],
  'lines of the log': [SECRET_PARTS, (text) => printable(text, 65_536)],
  JSON: [JSON_PARTS, (text) => ignored(() => parseBody(new TextEncoder().encode(text), 'json'))],
  'lines of JSON': [JSON_PARTS, (text) => ignored(() => parseBody(new TextEncoder().encode(text), 'ndjson'))],
  CSV: [CSV_PARTS, (text) => ignored(() => parseBody(new TextEncoder().encode(text), 'csv'))],
  'CSV with semicolons': [
    CSV_PARTS,
    (text) => ignored(() => parseBody(new TextEncoder().encode(text), csv({ delimiter: ';' }))),
  ],
  'snapshots as JSON': [JSON_PARTS, (text) => ignored(() => defaultCodec.decode(text))],
  'snapshots of devalue': [
    [...RICH_PARTS, ','],
    (text) => ignored(() => defaultCodec.decode(`devalue:[${text}]`)),
  ],
  signals: [JSON_PARTS, (text) => decodeSignal(text)],
  'Cache-Control': [HEADER_PARTS, (text) => reading({ 'cache-control': text })],
  'Age and Expires': [
    HEADER_PARTS,
    (text) => reading({ age: text, expires: text, date: text, 'last-modified': text }),
  ],
  durations: [['1', '.', ' ', 'm', 's', '10m', '-', '\n', 'é'], (text) => toMillis(text)],
  'Retry-After': [HEADER_PARTS, (text) => retryAfterMs({ retryAfter: text }, 0)],
  'cron lines': [
    [
      ...['*', '/', '1', ',', '-', ' ', 'L', 'W', '#', '?', 'MON', '@', '@daily'],
      ...['0', '9', '* ', '31,', '*/2,', '0-59,', 'MON#5,', ' * * * *', '0 0 ', ' 2 *'],
    ],
    (text) => ignored(() => cron(text, { zone: 'UTC' }).nextExecuteTime({ startedAt: 0, endedAt: 0 })),
  ],
};

it.each(Object.entries(SUBJECTS))(
  'bytes from outside take a time in proportion to their length: %s',
  async (_, [parts, work]) => {
    for (const part of parts) await expectLinear(work, (size) => part.repeat(size / part.length), 8);
    await fc.assert(
      fc.asyncProperty(repeated(parts), (text) => expectLinear(work, text)),
      runs(300),
    );
  },
);

/** Values of devalue in which any part may refer to any other one: each text is read, compared and encoded again in no time. */
const graph: Arbitrary<string> = fc.integer({ min: 2, max: 40 }).chain((size) => {
  const ref = fc.integer({ min: -6, max: size - 1 });
  const refs = fc.array(ref, { minLength: 1, maxLength: 4 });
  const part = fc.oneof(
    { weight: 4, arbitrary: refs },
    { weight: 2, arbitrary: refs.map((all) => ['Set', ...all]) },
    { weight: 2, arbitrary: refs.map((all) => ['Map', ...all, ...all]) },
    { weight: 2, arbitrary: refs.map((all) => Object.fromEntries(all.map((one, i) => [`k${i}`, one]))) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.integer({ min: 1, max: 2 ** 32 - 1 }), ref)
        .map(([length, one]) => [-7, length, 0, one]),
    },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(1, 'a', null, ['Date', '2026-01-01T00:00:00.000Z']) },
  );
  return fc.array(part, { minLength: size, maxLength: size }).map((all) => `devalue:${JSON.stringify(all)}`);
});

it('values whose parts refer to each other are decoded, compared and encoded in less than a second', async () => {
  await fc.assert(
    fc.asyncProperty(graph, graph, async (one, other) => {
      const begun = process.cpuUsage();
      await ignored(async () => {
        const [a, b, c] = [
          await defaultCodec.decode(one),
          await defaultCodec.decode(one),
          await defaultCodec.decode(other),
        ];
        expect(deepEqual(a, b)).toBe(true);
        deepEqual(a, c);
        await defaultCodec.encode(a);
      });
      const { user, system } = process.cpuUsage(begun);
      expect((user + system) / 1e6).toBeLessThan(5);
    }),
    runs(500),
  );
});

it('rules that refer to parts, which refer to others, are replaced or refused in less than a second', async () => {
  const rule = fc
    .array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 4 })
    .map((all) => ({ or: all.map((n) => ({ $ref: `e${n}` })) }));
  await fc.assert(
    fc.asyncProperty(fc.array(rule, { minLength: 1, maxLength: 30 }), async (rules) => {
      const later = rules.map(({ or }, at) => ({
        or: or.map(({ $ref }) => ({ $ref: `e${at + 1 + (Number($ref.slice(1)) % 2)}` })),
      }));
      for (const all of [rules, later]) {
        const references = new References(Object.fromEntries(all.map((one, n) => [`e${n}`, one])));
        const begun = process.cpuUsage();
        await ignored(() => references.replacedIn({ $ref: 'e0' }));
        const { user, system } = process.cpuUsage(begun);
        expect((user + system) / 1e6).toBeLessThan(5);
      }
    }),
    runs(300),
  );
});
