import { describe, expect, it } from 'vitest';
import { isTicklessError } from '../../../src/index.ts';
import { isWorkerError, loadInWorker, WorkerError } from '../../../src/worker/index.ts';
import { ofOption, optionsIn, problemsIn } from '../../support/option-errors.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';
import { cacheOf, failureOf, loadOf, moduleOf, threadCount, valueFrom } from './support.ts';

const exits = (code: number): RegExp => new RegExp(`^the thread exited with code ${code} before the load`);
const CRASH = /^an uncaught error ended the thread$/;
const MODULE = /^the module data:text.* cannot be loaded$/;
const CLONE = /^the result of the load cannot be cloned$/;
const hang = 'return new Promise(() => {})';

describe('a load fails by', () => {
  it.each<[name: string, module: string, code: string, message: RegExp]>([
    ['process.exit', 'export default () => process.exit(3)', 'EXIT', exits(3)],
    ['process.exit(0)', 'export default async () => process.exit(0)', 'EXIT', exits(0)],
    ['process.exit of the module', 'process.exit(5)', 'EXIT', exits(5)],
    [
      'an uncaught error',
      `export default () => { setTimeout(() => { throw new Error('late') }); ${hang} }`,
      'CRASH',
      CRASH,
    ],
    [
      'an unhandled rejection',
      `export default () => { Promise.reject(new Error('late')); ${hang} }`,
      'CRASH',
      CRASH,
    ],
    ['a module with a syntax error', 'export default (', 'MODULE', MODULE],
    ['a module that throws', `throw new Error('late')`, 'MODULE', MODULE],
    ['a module with a broken import', `import 'node:nothing'`, 'MODULE', MODULE],
    ['a module without a function', 'export default 5; export const load = {}', 'MODULE', MODULE],
    ['a function in the value', 'export default () => ({ a: [() => 1] })', 'CLONE', CLONE],
    ['a symbol', `export default () => Symbol('s')`, 'CLONE', CLONE],
    [
      'a getter that throws',
      `export default () => ({ get x() { throw new Error('late') } })`,
      'CLONE',
      CLONE,
    ],
    [
      'a function far back in a large value',
      'export default () => [...Array.from({ length: 20_000 }, (_, i) => ({ i })), () => 1]',
      'CLONE',
      CLONE,
    ],
  ])('%s', async (_, module, code, message) => {
    const error = await failureOf(module);
    expect(error).toBeInstanceOf(WorkerError);
    expect(isWorkerError(error)).toBe(true);
    expect(error.code).toBe(`ERR_TICKLESS_WORKER_${code}`);
    expect(error.message).toMatch(message);
    expect(error.exitCode).toBe(code === 'EXIT' ? Number(message.source.match(/\d/)) : undefined);
    if (module.includes('late')) expect((error.cause as Error).message).toBe('late');
    expect(threadCount()).toBe(0);
  });

  it('a module that is missing', async () => {
    const error = (await rejectionOf(loadInWorker(new URL('missing.mjs', import.meta.url))())) as WorkerError;
    expect(error.code).toBe('ERR_TICKLESS_WORKER_MODULE');
    expect(error.message).toMatch(/^the module file:.*\/test\/unit\/worker\/missing.mjs cannot be loaded$/);
    expect((error.cause as { code?: string }).code).toBe('ERR_MODULE_NOT_FOUND');
  });

  it('too much memory', async () => {
    const code = `export default () => { const all = []; for (let i = 0; ; i++) all.push(new Array(10_000).fill(i)) }`;
    const error = await failureOf(code, { resourceLimits: { maxOldGenerationSizeMb: 20 } });
    expect(error.code).toBe('ERR_TICKLESS_WORKER_MEMORY');
    expect(error.message).toBe('the thread ran out of memory');
    expect(threadCount()).toBe(0);
  });

  it('a thread that cannot be started', async () => {
    const env = {
      get BROKEN(): string {
        throw new Error('broken');
      },
    };
    const error = await failureOf('export default () => 1', { env });
    expect(error.code).toBe('ERR_TICKLESS_WORKER_START');
    expect(error.message).toBe('the thread could not be started');
    expect(error.cause).toEqual(new Error('broken'));
    expect(process.getActiveResourcesInfo()).not.toContain('MessagePort');
  });

  it('a key that cannot be cloned', async () => {
    const cache = cacheOf({ load: loadOf('export default () => 1'), keyOf: () => 'one' });
    const error = (await rejectionOf(cache.get(() => 'a key'))) as Error;
    expect(isTicklessError(error, 'LOAD_FAILED')).toBe(true);
    expect(error.cause).toMatchObject({ code: 'ERR_TICKLESS_WORKER_CLONE' });
    expect((error.cause as Error).message).toMatch(/^the key.* cannot be cloned into the thread$/);
    expect(threadCount()).toBe(0);
  });

  it('a previous value that cannot be picked', async () => {
    const previous = (): never => {
      throw new RangeError('none of that');
    };
    const value = valueFrom('export default () => 1', { worker: { previous } });
    await value.get();
    const error = (await rejectionOf(value.refresh())) as Error;
    expect(error.cause).toEqual(new RangeError('none of that'));
  });
});

describe('an error of the load', () => {
  it('arrives with its class, name, message, stack, cause and properties', async () => {
    const code = `
      class HttpError extends Error { name = 'HttpError'; status = 503; request = { retry() {} } }
      export default () => { throw new HttpError('down', { cause: new TypeError('deep', { cause: 'text' }) }) }`;
    const error = (await failureOf(code)) as unknown as Record<string, unknown> & Error;
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'HttpError', message: 'down', status: 503 });
    expect(error.stack).toMatch(/^(HttpError|Error): down\n.*data:text\/javascript/);
    expect(error).not.toHaveProperty('request'); // it has a function
    expect(error.cause).toBeInstanceOf(TypeError);
    expect((error.cause as Error).cause).toBe('text');
  });

  it('lengthens the cool-down by its Retry-After, also one in headers, which cannot be cloned', async () => {
    const headers = `headers: new Headers({ 'Retry-After': '90' })`;
    const value = valueFrom(`export default () => { throw Object.assign(new Error(), { ${headers} }) }`);
    await rejectionOf(value.get());
    const rest = value.inspect().nextExecuteTime - Date.now();
    expect(rest).toBeGreaterThan(80_000);
    expect(rest).toBeLessThan(100_000);
  });
});

describe('options', () => {
  const module = moduleOf('export default () => 1');
  const mistakes: readonly (readonly [given: object, option: string, rule: string])[] = [
    [{ transfer: 'all' }, 'transfer', 'must be true or false'],
    [{ concurrency: 0 }, 'concurrency', 'must be a whole number of 1 or more, or Infinity'],
    [{ concurrency: 1.5 }, 'concurrency', 'must be a whole number of 1 or more, or Infinity'],
    [{ previous: 'etag' }, 'previous', 'must be a function'],
    [{ env: Symbol('other') }, 'env', 'must be an object or SHARE_ENV'],
    [{ env: null }, 'env', 'must be an object or SHARE_ENV'],
    [{ resourceLimits: 5 }, 'resourceLimits', 'must be an object'],
    [{ resourceLimits: { stackSizeMb: 0 } }, 'resourceLimits.stackSizeMb', 'must be a finite number over 0'],
    [{ resourceLimits: { heap: 4 } }, 'resourceLimits.heap', 'is unknown (expected one of:'],
    [
      { name: 'x' },
      'name',
      'is unknown (expected one of: transfer, resourceLimits, env, previous, concurrency)',
    ],
  ];

  it.each(mistakes)('%j is rejected', (given, option, rule) => {
    const error = thrownBy(() => loadInWorker(module, given));
    expect(problemsIn(error)).toMatchObject([{ option, rule: expect.stringContaining(rule) }]);
    expect(error).toMatchObject({ member: 'loadInWorker' });
  });

  it.each([undefined, 5, './load.js', 'load.js', '', null, {}])('%j is not a module', (given) => {
    const error = thrownBy(() => loadInWorker(given as never));
    expect(error).toMatchObject(ofOption('module', 'must be an absolute URL or path, '));
  });

  it('all mistakes are reported at once', () => {
    const error = thrownBy(() => loadInWorker('x', { transfer: 1 as never, concurrency: -1 }));
    expect(optionsIn(error)).toEqual(['module', 'transfer', 'concurrency']);
  });
});
