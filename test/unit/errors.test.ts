import { describe, expect, it } from 'vitest';
import * as tickless from '../../src/index.ts';

const details = {
  cacheName: 'rates',
  cause: new Error('why'),
  attempts: 1,
  timeout: 1,
  retryAfter: 1,
  age: 1,
  maxStaleness: 1,
};

const errors = {
  LoadError: new tickless.LoadError('x', details),
  LoadTimeoutError: new tickless.LoadTimeoutError('x', details),
  CoolingDownError: new tickless.CoolingDownError('x', details),
  StaleValueError: new tickless.StaleValueError('x', details),
  NotLoadedError: new tickless.NotLoadedError('x', details),
  ClosedError: new tickless.ClosedError('x', details),
  OptionError: new tickless.OptionError([{ option: 'o', rule: 'must be', received: 1 }], details),
};

describe('errors', () => {
  for (const [name, error] of Object.entries(errors)) {
    it(`${name} has a stable code, a cause, the name of the cache, and a guard`, () => {
      expect(error.name).toBe(name);
      const snake = name
        .replace(/Error$/, '')
        .replace(/(?<!^)([A-Z])/g, '_$1')
        .toUpperCase();
      expect(error.code).toBe(`ERR_TICKLESS_${snake}`);
      expect(error.cause).toBe(details.cause);
      expect(error.cacheName).toBe('rates');
      expect(error.message).toMatch(/^rates: /);
      expect(error).toBeInstanceOf(tickless.TicklessError);
      const guards = Object.entries(tickless).filter(([key]) => /^is[A-Z]\w+Error$/.test(key));
      const matching = guards.filter(([, guard]) => (guard as (error: unknown) => boolean)(error));
      expect(matching.map(([key]) => key)).toEqual([`is${name}`]);
    });

    it(`is${name} knows the error of another installed copy`, () => {
      const foreign = Object.assign(new Error(error.message), { code: error.code });
      const [, found] = Object.entries(tickless).find(([key]) => key === `is${name}`) ?? [];
      const guard = found as (error: unknown) => boolean;
      expect(guard(foreign)).toBe(true);
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      for (const other of [proxy, undefined, null, {}, { code: error.code }, error.code, new Error('x')]) {
        expect(guard(other)).toBe(false);
      }
    });
  }

  it('an OptionError shows values that have no JSON', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    for (const [received, shown] of [
      [cyclic, '[object Object]'],
      [Symbol('s'), 'Symbol(s)'],
      [10n, '10'],
      [{ n: 10n }, '[object Object]'],
      [() => {}, 'function (anonymous)'],
    ] as const) {
      const error = new tickless.OptionError([{ option: 'o', rule: 'must be', received }], details);
      expect(error.message).toBe(`rates: o must be, received ${shown}`);
    }
  });
});
