import { describe, expect, it } from 'vitest';
import { RefreshingCache, type TicklessError } from '../../src/index.ts';
import { optionError } from '../../src/option-error.ts';
import { printable } from '../../src/printable.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { recordLines } from '../support/events.ts';
import { rejectionOf } from '../support/settle.ts';
import { unspread } from '../support/unspread.ts';

const hostile = '\u001b[2J\u0000\u0008\u007f\u0085\u2028\u2029\u202e\ud800';
/** Control characters, line separators, direction marks and lone surrogates. */
const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

describe('printable', () => {
  it('escapes what a terminal or a log reader would obey, and nothing else', () => {
    expect(printable(hostile)).toBe(String.raw`\u001b[2J\u0000\u0008\u007f\u0085\u2028\u2029\u202e\ud800`);
    expect(printable('Zürich\t(ZH), 日本 👩‍🚒 "a\\b"')).toBe('Zürich (ZH), 日本 👩‍🚒 "a\\b"');
    expect(printable(printable(hostile))).toBe(printable(hostile));
  });

  it('puts a text of several lines on one', () => {
    expect(printable('a\r\n  b\n\nc')).toBe('a b c');
  });

  it('cuts at 1 kB, between characters', () => {
    expect(printable('\u001b'.repeat(1000))).toHaveLength(1024);
    expect(printable('x'.repeat(50_000_000))).toBe(`${'x'.repeat(1023)}…`);
    expect(printable(`${'x'.repeat(1022)}😀y`)).toBe(`${'x'.repeat(1022)}…`);
    expect(printable('x'.repeat(1024))).toHaveLength(1024);
  });
});

it('text from outside, of names, keys and errors, is escaped and cut in log lines, and in messages of errors', async () => {
  const logger = recordLines();
  const clock = new FakeClock();
  let thrown: Error | undefined;
  const cache = new RefreshingCache({
    name: `n${hostile.replaceAll(/[\0\p{Cs}]/gu, '')}`, // which no name may hold
    load: async (key: string) => {
      if (thrown !== undefined) throw thrown;
      return key;
    },
    schedule: 1000,
    random: unspread,
    retry: { retries: 0 },
    clock,
    logger,
  });
  const key = `k${hostile}`;
  await cache.get(key);
  thrown = new Error(`${hostile}${'x'.repeat(50_000_000)}`, { cause: new Error(hostile) });
  await clock.advance(2000);
  await cache.get(key);
  await clock.flush();
  const error = (await rejectionOf(cache.refresh(key))) as TicklessError;
  expect(error.cause).toBe(thrown);
  const invalid = optionError([{ option: hostile, rule: 'must not', received: hostile }], {
    member: 'n',
  });
  for (const text of [...logger.lines, error.message, invalid.message]) {
    expect(text).not.toMatch(unprintable);
    expect(text.length).toBeLessThanOrEqual(1250); // with the name and the key
  }
  expect(logger.lines).toHaveLength(1);
  expect(logger.lines[0]).toContain(String.raw`n\u001b[2J\u0008`);
});
