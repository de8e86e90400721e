import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/cluster/store-contract.ts';
import { isTicklessError } from '../../../src/errors.ts';
import { ofOption } from '../../support/option-errors.ts';
import { storeOn } from '../../support/parts.ts';
import { recordsOfStore } from '../../support/records-of-steps.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';

const KIND = { longestName: 20, options: ['prefix'] };

/** A store whose backend has one implementation of all steps. */
function storeOf(step: (...args: unknown[]) => unknown): Store {
  const engine = { read: step, write: step, delete: step } as never;
  return storeOn(recordsOfStore(engine), { timeout: 20 }, KIND);
}

const CALLS: Record<string, (store: Store) => Promise<unknown>> = {
  read: (store) => store.read('n'),
  write: (store) => store.write('n', 'payload', 7),
  delete: (store) => store.delete('n'),
};

describe('createStore', () => {
  describe.each(Object.entries(CALLS))('%s', (_, call) => {
    it('rejects with BACKEND_DOWN, and the cause, when the backend rejects', async () => {
      const down = new Error('connect ECONNREFUSED');
      const error = await rejectionOf<Error>(call(storeOf(() => Promise.reject(down))));
      expect(isTicklessError(error, 'BACKEND_DOWN')).toBe(true);
      expect(error.cause).toBe(down);
      expect(error.message).toBe('n: the backend is unavailable: connect ECONNREFUSED');
    });

    it('rejects likewise after a synchronous throw, or a rejection without an error', async () => {
      const throwing = storeOf(() => {
        throw new TypeError();
      });
      await expect(call(throwing)).rejects.toThrow('the backend is unavailable: TypeError');
      await expect(call(storeOf(() => Promise.reject('closed')))).rejects.toThrow('unavailable: closed');
    });

    it('rejects at the timeout when the backend hangs', async () => {
      const error = await rejectionOf<Error>(call(storeOf(() => new Promise(() => {}))));
      expect(isTicklessError(error, 'BACKEND_DOWN')).toBe(true);
      expect(error.cause).toMatchObject({ code: 'ETIMEDOUT' });
    });
  });

  it('passes its arguments on', async () => {
    const calls: unknown[][] = [];
    const store = storeOf(async (...args) => {
      calls.push(args);
      return { kind: 'written', version: 1 };
    });
    await store.read('n');
    await store.read('n', 5);
    await store.write('n', 'payload');
    await store.write('n', '', 7, 9, 60_000);
    await store.delete('n');
    const given = calls.map((call) => call.filter((one) => one !== undefined));
    expect(given).toEqual([['n'], ['n', 5], ['n', 'payload'], ['n', '', 7, 9, 60_000], ['n']]);
  });

  it('shows its codec and its longest name', () => {
    const codec = { encode: String, decode: String };
    expect(storeOn({} as never, { codec }, KIND)).toMatchObject({
      codec,
      longestName: 20,
    });
    expect(storeOn({} as never, undefined as never, KIND)).toMatchObject({ codec: undefined });
  });

  it.each([
    ['a codec that can’t decode', { codec: { encode: String } }, 'codec'],
    ['a schema, which members have', { schema: {} }, 'schema'],
    ['timeout of 0', { timeout: 0 }, 'timeout'],
    ['timeout without end', { timeout: Infinity }, 'timeout'],
    ['an unknown option', { prefixes: 'x' }, 'prefixes'],
  ])('refuses %s', (_, options, option) => {
    expect(thrownBy(() => storeOn({} as never, options as never, KIND))).toMatchObject(ofOption(option));
  });

  it.each<[string, (store: Store) => Promise<unknown>, string]>([
    ['read without a name', (store) => store.read(''), 'name'],
    ['write to a name too long', (store) => store.write('é'.repeat(11), ''), 'name'],
    ['read of half a character', (store) => store.read('a\ud800'), 'name'],
    ['write to a name with U+0000', (store) => store.write('a\0', ''), 'name'],
    ['delete of a number', (store) => store.delete(5 as never), 'name'],
    ['write with NaN as token', (store) => store.write('n', '', Number.NaN), 'token'],
    ['write with an unsafe token', (store) => store.write('n', '', 2 ** 53), 'token'],
    ['write with a negative token', (store) => store.write('n', '', -1), 'token'],
    ['write with a keepFor without end', (store) => store.write('n', '', 7, 6, Infinity), 'keepFor'],
    ['write of an object', (store) => store.write('n', { a: 1 } as never), 'payload'],
    ['read of an invalid version', (store) => store.read('n', 0, 1.5), 'version'],
    ['read with an invalid newerThan', (store) => store.read('n', Number.NaN), 'newerThan'],
  ])('%s is an OPTION error, and never reaches the backend', async (_, call, option) => {
    let asked = 0;
    const store = storeOf(async () => {
      asked += 1;
      return undefined;
    });
    expect(await rejectionOf<Error>(call(store))).toMatchObject(ofOption(option));
    expect(asked).toBe(0);
  });
});
