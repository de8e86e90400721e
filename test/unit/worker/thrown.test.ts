import { describe, expect, it } from 'vitest';
import { flattened, revived } from '../../../src/worker/thrown.ts';

/** What is thrown in one thread, as it is in the other. */
const through = (thrown: unknown): unknown => revived(structuredClone(flattened(thrown)));

describe('what was thrown', () => {
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

  it('keeps properties, but for those that can not be cloned', () => {
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

  it.each([['text'], [5], [null], [undefined], [{ status: 5 }]])('may be no error: %j', (thrown) => {
    expect(through(thrown)).toEqual(thrown);
  });

  it('may be what can neither be cloned nor read', () => {
    expect(through(() => 1)).toBe('() => 1');
    expect(through(Object.assign(Object.create(null), { f: () => 1 }))).toBe(
      'a thrown value that can not be read',
    );
    const broken = Object.defineProperty(new Error('e'), 'message', {
      get: () => {
        throw new Error('no');
      },
    });
    expect(through(broken)).toBe('a thrown value that can not be read');
  });

  it('may have causes in a circle', () => {
    const [a, b] = [new Error('a'), new Error('b')];
    a.cause = b;
    b.cause = a;
    const arrived = through(a) as Error;
    expect((arrived.cause as Error).message).toBe('b');
    expect(((arrived.cause as Error).cause as Error).message).toBe('a');
  });

  it('says how long the source wants to be left alone where its headers could not be cloned', () => {
    const headers = { get: (name: string) => (name === 'retry-after' ? '7' : null) };
    expect(through(Object.assign(new Error('e'), { response: { headers } }))).toMatchObject({
      retryAfter: 7,
    });
    expect(through(new Error('e'))).not.toHaveProperty('retryAfter');
  });
});
