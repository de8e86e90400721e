import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { isTicklessError } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { loadInWorker } from '../../../src/worker/index.ts';
import { onEnded } from '../../support/events.ts';
import {
  answerOf,
  answersModule,
  cacheOf,
  failureOf,
  loadOf,
  moduleOf,
  sharedInt,
  until,
  valueFrom,
} from './support.ts';

const fixture = (file: string): URL => new URL(`fixtures/${file}`, import.meta.url);

describe('the module', () => {
  it.each([
    ['a default export', 'export default () => 1'],
    ['an export named load', 'export const load = () => 1'],
    ['load before default', 'export const load = () => 1; export default () => 2'],
    ['a load that returns a thenable', 'export default () => ({ then: (resolve) => resolve(1) })'],
    ['a top-level await', 'const one = await Promise.resolve(1); export default () => one'],
  ])('%s', async (_, code) => {
    expect(await answerOf(code)).toBe(1);
  });

  it.each(['load.mjs', 'function.cjs', 'exports.cjs'])('a file, %s', async (file) => {
    expect(await loadInWorker(fixture(file))()).toBe(file);
  });

  it('is given as a path, or as the text of a URL', async () => {
    expect(await loadInWorker(fileURLToPath(fixture('load.mjs')))()).toBe('load.mjs');
    expect(await loadInWorker(fixture('load.mjs').href)()).toBe('load.mjs');
  });

  it.runIf('typescript' in process.features && process.features.typescript)(
    'TypeScript, where the runtime strips types',
    async () => {
      expect(await loadInWorker(fixture('load.ts'))()).toBe('load.ts');
    },
  );

  it('is evaluated anew by each load', async () => {
    const load = loadOf('let calls = 0; export default () => (calls += 1)');
    expect([await load(), await load()]).toEqual([1, 1]);
  });
});

describe('the arguments of the load', () => {
  const told = `export default (...args) => {
    const { signal, ...context } = args.at(-1);
    return { context, isSignal: signal instanceof AbortSignal, aborted: signal.aborted, keys: args.slice(0, -1) };
  }`;

  it('of a value: the context of a load in this thread', async () => {
    const value = valueFrom(told);
    const context = { attempt: 1, trigger: 'first', background: false, previous: undefined };
    expect(await value.get()).toEqual({ context, isSignal: true, aborted: false, keys: [] });
    const { loadedAt } = value.inspect();
    const previous = { value: undefined, loadedAt };
    expect(await value.refresh()).toMatchObject({ context: { trigger: 'forced', previous } });
  });

  it('of a previous value: the picked part of it', async () => {
    const previous = ({ keys }: { keys: unknown[] }): unknown => `had ${keys.length} keys`;
    const value = valueFrom(told, { worker: { previous } });
    expect(await value.get()).toMatchObject({ context: { previous: undefined } });
    expect(await value.refresh()).toMatchObject({ context: { previous: { value: 'had 0 keys' } } });
  });

  it('of a key: the key and a context with it', async () => {
    const cache = cacheOf({ load: loadOf(told), keyOf: (key) => (key as { zip: string }).zip });
    const key = { zip: '1012' };
    expect(await cache.get(key)).toMatchObject({
      keys: [key],
      context: { key, attempt: 1, trigger: 'first' },
    });
  });

  it('of a key that looks like a context: the key; of a round: the token', async () => {
    const signal = new AbortController().signal;
    const load = loadOf('export default (...args) => args.length');
    expect(await load('a', { signal })).toBe(2);
    expect(await load({ signal }, { key: undefined })).toBe(1); // the second argument of a value's load
    expect(await loadOf(told)({ signal, token: 17 })).toMatchObject({ context: { token: 17 } });
  });
});

describe('the result', () => {
  let answers = '';
  beforeAll(async () => {
    answers = await answersModule();
  });
  const withAnswers = (code: string): string =>
    `import { keep, loaded, absent } from '${answers}'; export default ${code}`;

  it('arrives as the structured clone has it', async () => {
    class City {
      name = 'Amsterdam';
    }
    const code = `
      class City { name = 'Amsterdam' }
      const same = { x: 1 };
      export default () => ({
        city: new City(), at: new Date(5), codes: new Map([['1012', new Set([1])]]), big: 5n, pattern: /x/g,
        bytes: Buffer.from('bytes'), same, again: same, nothing: undefined, error: new RangeError('r'),
      })`;
    const answer = (await answerOf(code)) as Record<string, unknown>;
    expect(answer).toEqual({
      city: { ...new City() },
      at: new Date(5),
      codes: new Map([['1012', new Set([1])]]),
      big: 5n,
      pattern: /x/g,
      bytes: new Uint8Array(Buffer.from('bytes')),
      same: { x: 1 },
      again: { x: 1 },
      nothing: undefined,
      error: new RangeError('r'),
    });
    expect(answer.again).toBe(answer.same);
  });

  it.each([undefined, null, Number.NaN])('may be %s', async (value) => {
    expect(await answerOf(`export default () => ${value}`)).toBe(value);
  });

  it('keep() keeps the value, and gives it a new age', async () => {
    const value = valueFrom(
      withAnswers(`({ previous }) => previous ? keep({ maxStaleness: { minutes: 5 } }) : { n: 1 }`),
    );
    const first = await value.get();
    const kept: unknown[] = [];
    onEnded(value, 'kept', (event) => kept.push(event));
    expect(await value.refresh()).toBe(first);
    expect(kept).toHaveLength(1);
  });

  it('loaded() has the same effect as in this thread', async () => {
    const clock = new FakeClock();
    const next = clock.now() + 90_000;
    const value = valueFrom(
      withAnswers(
        `() => loaded([1], { dueAfter: { toMillis: () => 90_000 }, maxStaleness: { toMillis: () => 120_000 } })`,
      ),
      { clock, whenTooStale: 'throw' },
    );
    expect(await value.get()).toEqual([1]);
    expect(value.inspect().nextExecuteTime).toBe(next);
    await clock.advance(119_000);
    expect(value.inspect().state).toBe('stale');
    await clock.advance(1001);
    expect(value.inspect().state).toBe('too-stale');
  });

  it('headers come through, also those of a response', async () => {
    const seen: unknown[] = [];
    const value = valueFrom(
      withAnswers(
        `({ previous }) => previous
          ? loaded(2, { headers: { 'cache-control': 'max-age=6' } })
          : loaded(1, { headers: new Headers({ 'Cache-Control': 'max-age=5' }) })`,
      ),
      {
        schedule: ({ endedAt, headers }) => {
          seen.push(headers);
          return endedAt + 1000;
        },
      },
    );
    await value.get();
    await value.refresh();
    expect(seen).toEqual([{ 'cache-control': 'max-age=5' }, { 'cache-control': 'max-age=6' }]);
  });

  it('a Map of results, of loadMany', async () => {
    const tags = `const TAGS = ['t'];`;
    const code = `${tags} export default (keys) => new Map(keys.map((key) => [key,
      key === 'no' ? absent() : key === 'bad' ? Object.assign(new RangeError('bad key'), { status: 400 }) :
      key === 'tagged' ? loaded({ key }, { tags: TAGS }) : key === 'also' ? loaded({ key }, { tags: TAGS }) : { key }]))`;
    const cache = cacheOf({
      loadMany: loadOf(`import { loaded, absent } from '${answers}'; ${code}`) as never,
    });
    const errors = new Map<unknown, unknown>();
    const found = await cache.getMany(['a', 'no', 'bad', 'tagged', 'also'], {
      onError: (error, key) => errors.set(key, error),
    });
    expect(found).toEqual(
      new Map([
        ['a', { key: 'a' }],
        ['tagged', { key: 'tagged' }],
        ['also', { key: 'also' }],
      ]),
    );
    const error = errors.get('bad') as Error;
    expect(isTicklessError(error, 'LOAD_FAILED')).toBe(true);
    expect(error.cause).toMatchObject({ name: 'RangeError', message: 'bad key', status: 400 });
    expect(error.cause).toBeInstanceOf(RangeError);
    cache.invalidateTag('t');
    expect(['a', 'tagged', 'also'].map((key) => cache.inspect(key)?.state)).toEqual([
      'fresh',
      'stale',
      'stale',
    ]);
  });

  it('the previous values of keys come as a Map', async () => {
    const code =
      'export default (keys, { previous }) => new Map(keys.map((key) => [key, [previous.get(key)?.value]]))';
    const previous = (value: unknown[]): unknown => `had ${value.length}`;
    const cache = cacheOf({ loadMany: loadOf(code, { previous }) as never });
    expect(await cache.get('a')).toEqual([undefined]);
    expect(await cache.refresh('a')).toEqual(['had 1']);
  });
});

describe('beside the result', () => {
  it('messages of the module to its parent are ignored', async () => {
    const code = `import { parentPort, workerData } from 'node:worker_threads';
      parentPort.on('message', () => {});
      export default async () => {
        parentPort.postMessage({ kind: 'end' });
        parentPort.postMessage({ kind: 'fill', keys: [], values: [{ value: 'wrong', entryMarks: [] }] });
        await new Promise((resolve) => setTimeout(resolve, 20));
        return 'right';
      }`;
    expect(await answerOf(code)).toBe('right');
  });

  it('a thread that exits right after its result has succeeded', async () => {
    expect(await answerOf('export default () => { setImmediate(() => process.exit(3)); return 1 }')).toBe(1);
  });

  it.each([
    ['exited', 'process.exit(3)'],
    ['crashed', 'throw new Error("late")'],
  ])('a result counts although the thread has %s before this thread could read it', async (_, end) => {
    const flag = sharedInt();
    const code = `export default (flag) => {
      Atomics.store(flag, 0, 1);
      Atomics.wait(flag, 0, 1);
      setImmediate(() => { ${end} });
      return 'answer';
    }`;
    const answer = loadOf(code)(flag, new AbortController());
    await until(() => flag[0] === 1);
    Atomics.store(flag, 0, 2);
    Atomics.notify(flag, 0);
    Atomics.wait(flag, 0, 2, 300); // the event loop stands still, until the thread has ended
    expect(await answer).toBe('answer');
  });

  it('of two failures the first one counts', async () => {
    const error = await failureOf(
      `export default () => { setImmediate(() => { throw new Error('second') }); throw new Error('first') }`,
    );
    expect(error.message).toBe('first');
  });

  it('the environment is what was given', async () => {
    const load = loadInWorker(moduleOf('export default () => process.env.GIVEN'), { env: { GIVEN: 'x' } });
    expect(await load()).toBe('x');
    process.env.GIVEN = 'inherited';
    try {
      expect(await answerOf('export default () => process.env.GIVEN')).toBe('inherited');
    } finally {
      delete process.env.GIVEN;
    }
  });
});
