import { describe, expect, it } from 'vitest';
import { isTicklessError, TicklessError } from '../../../src/index.ts';
import { decodeError, encodeError } from '../../../src/worker/error-codec.ts';

/** Sends a thrown value from one thread to the other. */
const through = (thrown: unknown): unknown => decodeError(structuredClone(encodeError(thrown)));

describe('a thrown value', () => {
  it.each([
    new Error('e'),
    new TypeError('e'),
    new RangeError('e'),
    new SyntaxError('e'),
    new ReferenceError('e'),
    new EvalError('e'),
    new URIError('e'),
    new DOMException('e', 'TimeoutError'),
  ])('is of the same built-in class: $name', (error) => {
    const arrived = through(error) as Error;
    expect(Object.getPrototypeOf(arrived)).toBe(Object.getPrototypeOf(error));
    expect([arrived.name, arrived.message, arrived.stack]).toEqual([error.name, error.message, error.stack]);
    expect(Object.keys(arrived)).toEqual([]);
  });

  it('keeps the errors of an AggregateError', () => {
    const arrived = through(new AggregateError([new TypeError('a'), 'b'], 'both')) as AggregateError;
    expect(arrived).toBeInstanceOf(AggregateError);
    expect(arrived.errors).toEqual([new TypeError('a'), 'b']);
    expect(arrived.errors[0]).toBeInstanceOf(TypeError);
  });

  it('has at most 100 errors in it, and no property of more than 64 kB: it is decoded in one turn', () => {
    const many = (depth: number): Error[] =>
      Array.from({ length: 200 }, () => (depth === 0 ? new Error('e') : new AggregateError(many(depth - 1))));
    const count = (error: unknown): number =>
      ((error as AggregateError).errors ?? []).reduce((sum: number, one: unknown) => sum + 1 + count(one), 0);
    const error = new AggregateError(many(1), 'all');
    const kept = { code: 'E', few: [new Error('one')] };
    const arrived = through(Object.assign(error, kept, { many: many(1), text: ['x'.repeat(70_000)] }));
    expect(count(arrived)).toBe(100);
    expect(Object.keys(arrived as object)).toEqual(['code', 'few']);
    expect((arrived as Error).message).toBe('all');
  });

  it('is known by its code, with its fields, where it is one of tickless', () => {
    const about = { member: 'rates', key: 'EUR', retryAt: Date.now() + 5000, cause: new Error('down') };
    const arrived = through(new TicklessError('COOLING_DOWN', 'later', about));
    expect(isTicklessError(arrived, 'COOLING_DOWN')).toBe(true);
    expect(isTicklessError(arrived, 'ABSENT')).toBe(false);
    expect(arrived).toMatchObject({ ...about, name: 'TicklessError', message: 'rates["EUR"]: later' });
    expect((arrived as Error).stack).toMatch(/^TicklessError \[COOLING_DOWN\]: rates/);
    expect(arrived).not.toHaveProperty('retryAfter');
  });

  it('keeps the properties that can be cloned', () => {
    const at = new Date(5);
    const error = Object.assign(new Error('e'), {
      code: 'X',
      at,
      list: [1],
      f: () => 1,
      deep: { f: () => 1 },
    });
    expect(Object.entries(through(error) as object)).toEqual([
      ['code', 'X'],
      ['at', at],
      ['list', [1]],
    ]);
  });

  it.each([['text'], [5], [null], [undefined], [{ status: 5 }]])(
    'may be something else than an error: %j',
    (thrown) => {
      expect(through(thrown)).toEqual(thrown);
    },
  );

  it('may be something that cannot be cloned or read', () => {
    expect(through(() => 1)).toBe('() => 1');
    expect(through(Object.assign(Object.create(null), { f: () => 1 }))).toBe(
      'a thrown value that cannot be read',
    );
    const broken = Object.defineProperty(new Error('e'), 'message', {
      get: () => {
        throw new Error('no');
      },
    });
    expect(through(broken)).toBe('a thrown value that cannot be read');
  });

  it('is bounded in its texts and properties', () => {
    const long = 'x'.repeat(1_000_000);
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`p${i}`, i]));
    const error = Object.assign(new Error(long), { body: long, ...many });
    const { message, stack, ...properties } = through(error) as Error;
    expect([message.length, (stack ?? '').length].every((length) => length < 70_000)).toBe(true);
    expect(properties).not.toHaveProperty('body');
    expect(Object.keys(properties).length).toBeLessThanOrEqual(100);
    expect((through(long) as string).length).toBeLessThan(70_000);
  });

  it('may have a cycle of causes', () => {
    const [a, b] = [new Error('a'), new Error('b')];
    a.cause = b;
    b.cause = a;
    const arrived = through(a) as Error;
    expect((arrived.cause as Error).message).toBe('b');
    expect(((arrived.cause as Error).cause as Error).message).toBe('a');
  });

  it('keeps the Retry-After of headers, which cannot be cloned', () => {
    const headers = { get: (name: string) => (name === 'retry-after' ? '7' : null) };
    expect(through(Object.assign(new Error('e'), { response: { headers } }))).toMatchObject({
      retryAfter: 7,
    });
    expect(through(new Error('e'))).not.toHaveProperty('retryAfter');
  });
});
