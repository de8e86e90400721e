import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../../scripts/check-arrows.mjs', import.meta.url));

/** A tree with one allowed import of each kind. */
const clean = {
  'clock.ts': '',
  'schedule/schedule.ts': `import type { Clock } from '../../clock.ts';`,
  'schedule/local-time.ts': `import { DateTime } from 'luxon';`,
  'schedule/cron.ts': `import { Cron } from 'croner';\nimport { localClock } from './local-time.ts';`,
  'executor/entry.ts': `import type { Schedule } from '../schedule/schedule.ts';`,
  'executor/flight.ts': `import { retrying } from './retry.ts';\nimport type { Entry } from './entry.ts';`,
  'executor/retry.ts': `import pRetry, {\n  type Options,\n} from 'p-retry';`,
  'observe/diagnostics.ts': `import { channel } from 'node:diagnostics_channel';`,
  'options.ts': `import { systemClock } from './clock.ts';`,
  'cache/cache.ts': `import { LRUCache } from 'lru-cache';\nimport { Flight } from '../engine/flight.ts';`,
  'testing/fake-clock.ts': `import type { Clock } from '../../clock.ts';`,
  'testing/index.ts': `export { FakeClock } from './fake-clock.ts';`,
  'index.ts': `export * from './cache/cache.ts';\nexport type { Clock } from './clock.ts';`,
};

let src: string;
beforeEach(() => {
  src = mkdtempSync(join(tmpdir(), 'tickless-arrows-'));
});
afterEach(() => rmSync(src, { recursive: true }));

function check(planted: Record<string, string>) {
  for (const [file, content] of Object.entries({ ...clean, ...planted })) {
    mkdirSync(dirname(join(src, file)), { recursive: true });
    writeFileSync(join(src, file), content);
  }
  const { status, stdout } = spawnSync(process.execPath, [script, src], { encoding: 'utf8' });
  return { status, violations: stdout.trimEnd().split('\n').slice(0, -1) };
}

test('finds nothing in a tree whose arrows all point down', () => {
  expect(check({})).toEqual({ status: 0, violations: [] });
});

test.each([
  [
    'an import of a higher layer',
    { 'schedule/up.ts': `\nimport { Flight } from '../engine/flight.ts';` },
    'src/schedule/up.ts:2 imports executor/flight.ts: pure parts may not know mechanisms, which is above it',
  ],
  [
    'a type-only import of a higher layer',
    { 'executor/decide.ts': `import type { ResolvedOptions } from '../../options.ts';` },
    'src/executor/decide.ts:1 imports options.ts: pure parts may not know options, which is above it',
  ],
  [
    'a type named by import()',
    { 'executor/decide.ts': `export type P = import('../../options.ts').ResolvedOptions;` },
    'src/executor/decide.ts:1 imports options.ts: pure parts may not know options, which is above it',
  ],
  [
    'a re-export of a higher layer',
    { 'observe/events.ts': `export * as cache from '../cache/cache.ts';` },
    'src/observe/events.ts:1 imports cache/cache.ts: mechanisms may not know cache, which is above it',
  ],
  [
    'testing that knows more than the base',
    { 'testing/suite.ts': `import { Flight } from '../engine/flight.ts';` },
    'src/testing/suite.ts:1 imports executor/flight.ts: testing may import only base, contracts',
  ],
  [
    'an import of testing',
    { 'cache/value.ts': `import { FakeClock } from '../testing/fake-clock.ts';` },
    'src/cache/value.ts:1 imports testing/fake-clock.ts: nothing imports testing',
  ],
  [
    'a cycle between values',
    {
      'schedule/a.ts': `import { b } from './b.ts';`,
      'schedule/b.ts': `\n\nimport { c } from './c.ts';`,
      'schedule/c.ts': `import { type A, a } from './a.ts';`,
    },
    'src/schedule/c.ts:1 imports schedule/a.ts: a cycle, schedule/a.ts → schedule/b.ts → schedule/c.ts → schedule/a.ts',
  ],
  [
    'p-retry outside of retry.ts',
    { 'executor/flight.ts': `import { AbortError } from 'p-retry';` },
    'src/executor/flight.ts:1 imports p-retry: only in executor/retry.ts',
  ],
  [
    'lru-cache in a second file',
    { 'cache/second.ts': `import { LRUCache } from 'lru-cache';` },
    'src/cache/second.ts:1 imports lru-cache: in 1 file only, and cache/cache.ts has it',
  ],
  [
    'luxon outside of the calendar',
    { 'duration.ts': `import type { Duration } from 'luxon';` },
    'src/duration.ts:1 imports luxon: only in schedule/local-time.ts',
  ],
  [
    'croner outside of cron',
    { 'schedule/daily-at.ts': `import { Cron } from "croner";` },
    'src/schedule/daily-at.ts:1 imports croner: only in schedule/cron.ts',
  ],
  [
    'a module of node in the core',
    { 'executor/flight.ts': `export const load = () => import('node:fs');` },
    'src/executor/flight.ts:1 imports node:fs: only in lock/file.ts, store/file.ts, files/*, worker/*, observe/diagnostics.ts, console/node.ts',
  ],
  [
    'a package that is no dependency',
    { 'cache/value.ts': `import 'left-pad';` },
    'src/cache/value.ts:1 imports left-pad: only p-retry, lru-cache, luxon, croner, node: may be imported',
  ],
  [
    'an import of a file that is not there',
    { 'cache/value.ts': `import { x } from './gone.ts';` },
    'src/cache/value.ts:1 imports cache/gone.ts: there is no such file in src',
  ],
  [
    'a file without a layer',
    { 'utils.ts': '' },
    'src/utils.ts:1 belongs to no layer: add it to the table in scripts/check-arrows.mjs',
  ],
])('reports %s', (_, planted, violation) => {
  expect(check(planted)).toEqual({ status: 1, violations: [violation] });
});

test('allows a cycle of types, which is gone at run time', () => {
  const planted = {
    'schedule/a.ts': `import type { B } from './b.ts';`,
    'schedule/b.ts': `import type { A } from './a.ts';`,
  };
  expect(check(planted)).toEqual({ status: 0, violations: [] });
});

test('passes over what only looks like an import', () => {
  const planted = {
    'schedule/doc.ts': [
      '/**\n * ```ts\n * import { RefreshingValue } from "tickless";\n * ```\n */',
      "// import { x } from 'left-pad';",
      'export const text = "import \'left-pad\'";',
      "export const lines = `\nimport 'left-pad';\n`;",
    ].join('\n'),
  };
  expect(check(planted)).toEqual({ status: 0, violations: [] });
});

test('does not take an empty tree for a good one', () => {
  const { status } = spawnSync(process.execPath, [script, src]);
  expect(status).toBe(1);
});
