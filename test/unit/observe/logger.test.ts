import { describe, expect, it } from 'vitest';
import { messageOf, SafeLogger } from '../../../src/observe/logger.ts';

describe('messageOf', () => {
  const refused = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' });
  const circular = new Error('round');
  circular.cause = new Error('and round', { cause: circular });
  const unreadable = Object.defineProperty(new Error('x'), 'cause', {
    get: () => {
      throw new Error('no');
    },
  });
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();

  for (const [name, thrown, message] of [
    ['an error', new Error('down'), 'down'],
    [
      'an error and its causes',
      new TypeError('fetch failed', { cause: refused }),
      'fetch failed: ECONNREFUSED',
    ],
    ['a cause that says the same once', new Error('a: b', { cause: new Error('b') }), 'a: b'],
    ['a cause that is not an Error', new Error('a', { cause: 5 }), 'a: 5'],
    ['an error without a message', new RangeError(), 'RangeError'],
    ['a cycle of causes', circular, 'round: and round'],
    ['a string', 'down', 'down'],
    ['nothing', undefined, 'undefined'],
    ['an object without a string form', Object.create(null), 'a thrown value that cannot be read'],
    ['an error whose message is none', Object.assign(new Error('x'), { message: 42 }), '42'],
    ['an error with an unreadable cause', unreadable, 'x: a thrown value that cannot be read'],
    ['a revoked proxy', revoked.proxy, 'a thrown value that cannot be read'],
  ] as const) {
    it(`of ${name}`, () => {
      expect(messageOf(thrown)).toBe(message);
    });
  }
});

it('SafeLogger writes one line, also for a message of several', () => {
  const lines: string[] = [];
  const logger = new SafeLogger('rates', { warn: (line) => void lines.push(line), error: () => {} });
  logger.warn('failed', new Error('a\r\n  b\n\nc'));
  expect(lines).toEqual(['tickless: rates: failed: a b c']);
});
