import { describe, expect, it } from 'vitest';
import * as durableObject from '../../../src/backends/durable-object.ts';
import * as dynamodb from '../../../src/backends/dynamodb.ts';
import * as etcd from '../../../src/backends/etcd.ts';
import * as file from '../../../src/backends/file.ts';
import * as backend from '../../../src/backends/index.ts';
import * as memory from '../../../src/backends/memory.ts';
import * as mongodb from '../../../src/backends/mongodb.ts';
import * as mysql from '../../../src/backends/mysql.ts';
import * as postgres from '../../../src/backends/postgres.ts';
import * as redis from '../../../src/backends/redis.ts';
import * as sqlite from '../../../src/backends/sqlite.ts';
import * as calendar from '../../../src/calendar/index.ts';
import * as console from '../../../src/console/index.ts';
import * as node from '../../../src/console/node.ts';
import * as diagnostics from '../../../src/diagnostics/index.ts';
import * as guards from '../../../src/guards/index.ts';
import * as core from '../../../src/index.ts';
import * as jwks from '../../../src/jwks/index.ts';
import * as openfeature from '../../../src/openfeature/index.ts';
import * as otel from '../../../src/otel/index.ts';
import * as prometheus from '../../../src/prometheus/index.ts';
import * as sources from '../../../src/sources/index.ts';
import * as testing from '../../../src/testing/index.ts';
import * as worker from '../../../src/worker/index.ts';

const ENTRIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'tickless': core, 'tickless/backend': backend, 'tickless/memory': memory, 'tickless/file': file, 'tickless/redis': redis,
  'tickless/postgres': postgres, 'tickless/mysql': mysql, 'tickless/sqlite': sqlite, 'tickless/mongodb': mongodb, 'tickless/etcd': etcd,
  'tickless/dynamodb': dynamodb, 'tickless/durable-object': durableObject, 'tickless/calendar': calendar, 'tickless/console': console, 'tickless/console/node': node,
  'tickless/diagnostics': diagnostics, 'tickless/guards': guards, 'tickless/jwks': jwks, 'tickless/openfeature': openfeature,
  'tickless/otel': otel, 'tickless/prometheus': prometheus, 'tickless/sources': sources, 'tickless/testing': testing, 'tickless/worker': worker,
}; // biome-ignore format: a table

/** What no exported function takes as its only argument. */
const WRONG: Readonly<Record<string, unknown>> = {
  'a number': 1_893_456_000_000,
  'a text': 'no such thing',
  'a function': () => {},
  'a Date': new Date(0),
  'a Map': new Map([['name', 'v']]),
  'a list': [{}],
  'an unknown option': { noSuchOption: 1 },
  'true': true,
}; // biome-ignore format: a table

/** What some of them take. */
const TAKEN: Readonly<Record<string, readonly string[]>> = {
  earliest: ['a number', 'a function'], // schedules
  fixedDelay: ['a number'],
  fixedRate: ['a number'],
  probabilisticEarly: ['a number', 'a function'],
  withJitter: ['a number', 'a function'],
  changesAtMost: ['a number'], // shares
  growsAtMost: ['a number'],
  shrinksAtMost: ['a number'],
  every: ['a function'], // guards
  firstOf: ['a function'], // sources
  httpSource: ['a function'],
  fileSource: ['a text'], // a path
  refreshing: ['a function'], // a load
};

/** They take any value, or take what adapter authors and runtimes give: not options. */
const OTHERS = ['keep', 'loaded', 'absent', 'never', 'ageHeaders', 'TicklessObject'];
const OF_AUTHORS = [
  'edited',
  'applied',
  'rowOf',
  'editionsIn',
  'lockConformance',
  'storeConformance',
  'recordsConformance',
];

const CALLS = Object.entries(ENTRIES).flatMap(([entry, exported]) =>
  Object.entries(exported)
    .filter(
      ([name, it]) =>
        typeof it === 'function' &&
        !/^is[A-Z]|Error$/.test(name) &&
        ![...OTHERS, ...OF_AUTHORS].includes(name),
    )
    .map(([name, it]) => [entry, name, it as (...given: unknown[]) => unknown] as const),
);

async function refusalOf(callee: (...given: unknown[]) => unknown, given: unknown): Promise<unknown> {
  const isClass = Function.prototype.toString.call(callee).startsWith('class');
  try {
    return await (isClass
      ? new (callee as unknown as new (given: unknown) => unknown)(given)
      : callee(given));
  } catch (error) {
    return error;
  }
}

describe('an argument of a wrong kind, or an unknown option, is refused with an OPTION error', () => {
  it.each(CALLS)('%s: %s', async (_, name, callee) => {
    const taken = TAKEN[name] ?? [];
    for (const [what, given] of Object.entries(WRONG)) {
      if (taken.includes(what)) continue;
      expect(await refusalOf(callee, given), `${name}(${what})`).toMatchObject({
        code: 'OPTION',
      });
    }
  });

  it('has looked at every entry that exports a function', () => {
    expect(CALLS.length).toBeGreaterThan(50);
  });
});

describe('a FakeClock', () => {
  it.each([
    [1_893_456_000_000],
    [new Date('2030-01-01')],
    ['2030-01-01T00:00:00Z'],
    [null],
    [[1_893_456_000_000]],
    [{ start: 1_893_456_000_000 }],
    [{ Now: 1 }],
    [{ now: 'nonsense' }],
    [{ now: null }],
    [{ now: true }],
    [{ now: [2030] }],
    [{ now: Number.NaN }],
    [{ now: new Date(Number.NaN) }],
  ])('does not begin at another instant than the one meant: %j', (given) => {
    // biome-ignore format: a table
    expect(() => new testing.FakeClock(given as never)).toThrow(expect.objectContaining({ code: 'OPTION' }));
  });

  it.each([[undefined], [null], ['10'], [-5], [Number.NaN], [Infinity], [{ minuts: 1 }], [new Date()]])(
    'is not advanced by %j',
    async (given) => {
      await expect(new testing.FakeClock().advance(given as never)).rejects.toMatchObject({
        code: 'OPTION',
      });
    },
  );
});
