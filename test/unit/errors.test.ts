import { inspect } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import * as tickless from '../../src/index.ts';
import { optionError } from '../../src/option-error.ts';

const { isTicklessError, TicklessError } = tickless;

const CODES = Object.keys({
  OPTION: 1,
  NOT_LOADED: 1,
  LOAD_FAILED: 1,
  TIMED_OUT: 1,
  REFUSED: 1,
  COOLING_DOWN: 1,
  TOO_STALE: 1,
  ABSENT: 1,
  PINNED: 1,
  BACKEND_DOWN: 1,
  LEASE_LOST: 1,
  CLOSED: 1,
} satisfies Record<tickless.ErrorCode, 1>) as tickless.ErrorCode[];

const cause = new Error('why');

it('are one class and one guard', () => {
  const names = Object.keys(tickless).filter((name) => /Errors?$/.test(name));
  expect(names.sort()).toEqual(['TicklessError', 'isTicklessError']);
});

describe.each(CODES)('%s', (code) => {
  const error = new TicklessError(code, 'it broke', { member: 'rates', cause });

  it('has the member, and the cause', () => {
    expect(error).toMatchObject({
      name: 'TicklessError',
      code,
      member: 'rates',
      message: 'rates: it broke',
      cause,
    });
    expect(error).toBeInstanceOf(Error);
  });

  it('is printed with its code', () => {
    const line = `TicklessError [${code}]: rates: it broke`;
    expect(error.stack?.split('\n')[0]).toBe(line);
    expect(error.stack?.split('\n')[1]).toContain('errors.test.ts');
    expect(inspect(error).split('\n')[0]).toBe(line);
  });

  it('is known by its code alone, also where it is of another copy', async () => {
    vi.resetModules();
    const copy = await import('../../src/index.ts');
    expect(copy.TicklessError).not.toBe(TicklessError);
    const ofCopy = new copy.TicklessError(code, 'it broke', { member: 'rates' });
    for (const one of [error, ofCopy]) {
      expect(isTicklessError(one)).toBe(true);
      expect(CODES.filter((other) => isTicklessError(one, other))).toEqual([code]);
    }
  });
});

it('the fields that a code does not have are not there', () => {
  const bare = new TicklessError('CLOSED', 'x', { member: 'rates' });
  expect(Object.keys(bare)).toEqual(['code', 'member', 'name']);
  expect('cause' in bare).toBe(false);
  const full = { member: 'rates', key: 7, age: 1, attempts: 2, retryAt: 3, cause };
  expect(new TicklessError('CLOSED', 'x', full)).toMatchObject({ ...full, message: 'rates[7]: x' });
});

it('the guard accepts nothing else', () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const foreign = Object.assign(new Error('x'), { code: 'CLOSED' });
  const plain = { code: 'CLOSED', member: 'rates', message: 'x' };
  for (const other of [proxy, undefined, null, {}, new Error('x'), foreign, plain, 'CLOSED']) {
    expect(isTicklessError(other)).toBe(false);
    expect(isTicklessError(other, 'CLOSED')).toBe(false);
  }
});

it.each([
  [Object.assign([], { 0: 10n }), '[object Array]'],
  [Symbol('s'), 'Symbol(s)'],
  [10n, '10'],
  [{ n: 10n }, '[object Object]'],
  [{ toJSON: () => undefined }, '[object Object]'],
  [() => {}, 'function (anonymous)'],
])('an error of an option shows a value without JSON: %o', (received, shown) => {
  const error = optionError([{ option: 'o', rule: 'must be', received }], { member: 'rates' });
  expect(error.message).toBe(`rates: o must be, received ${shown}`);
});
