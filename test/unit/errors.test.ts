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
  token: 1,
};

const classes = [
  tickless.NotLoadedError,
  tickless.LoadError,
  tickless.LoadTimeoutError,
  tickless.CoolingDownError,
  tickless.StaleValueError,
  tickless.AbsentError,
  tickless.ClosedError,
  tickless.LockUnavailableError,
  tickless.LeaseLostError,
  tickless.StoreUnavailableError,
];
const errors: [name: string, error: tickless.TicklessError][] = [
  ...classes.map((Class): [string, tickless.TicklessError] => [Class.name, new Class('x', details)]),
  ['OptionError', new tickless.OptionError([{ option: 'o', rule: 'must be', received: 1 }], details)],
];
const guards = Object.entries(tickless).filter(([name]) => /^is[A-Z]\w+Error$/.test(name)) as [
  name: string,
  guard: (error: unknown) => boolean,
][];
const matching = (error: unknown): string[] =>
  guards.filter(([, guard]) => guard(error)).map(([name]) => name);

describe.each(errors)('%s', (name, error) => {
  it('has a stable code, a cause and the name of the cache', () => {
    expect(error.name).toBe(name);
    const snake = name.replace(/Error$/, '').replace(/(?<!^)([A-Z])/g, '_$1');
    expect(error.code).toBe(`ERR_TICKLESS_${snake.toUpperCase()}`);
    expect(error.cause).toBe(details.cause);
    expect(error.cacheName).toBe('rates');
    expect(error.message).toMatch(/^rates: /);
    expect(error).toBeInstanceOf(tickless.TicklessError);
  });

  it('has one guard, which accepts the error of another installed copy too', () => {
    expect(matching(error)).toEqual([`is${name}`]);
    expect(matching(Object.assign(new Error('x'), { code: error.code }))).toEqual([`is${name}`]);
    expect(matching({ code: error.code })).toEqual([]);
    expect(matching(error.code)).toEqual([]);
  });
});

it('the guards accept nothing else', () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  for (const other of [proxy, undefined, null, {}, new Error('x')]) expect(matching(other)).toEqual([]);
});

it.each([
  [Object.assign([], { 0: 10n }), '[object Array]'],
  [Symbol('s'), 'Symbol(s)'],
  [10n, '10'],
  [{ n: 10n }, '[object Object]'],
  [{ toJSON: () => undefined }, '[object Object]'],
  [() => {}, 'function (anonymous)'],
])('an OptionError shows a value without JSON: %o', (received, shown) => {
  const error = new tickless.OptionError([{ option: 'o', rule: 'must be', received }], details);
  expect(error.message).toBe(`rates: o must be, received ${shown}`);
});
