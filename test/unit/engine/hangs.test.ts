import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { RefreshingCache, RefreshingValue, type ValueOptions } from '../../../src/index.ts';
import { memoryRecords } from '../../../src/records/memory-records.ts';
import { fileSource, firstOf, httpSource, mergeOf } from '../../../src/sources/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { Link, type Step } from '../../support/cluster.ts';
import { rejectionOf } from '../../support/settle.ts';

const hangs = (): Promise<never> => new Promise(() => {});
const fails = (): Promise<never> => Promise.reject(new Error('down'));

/** The message of the read of a value whose load hangs, and the log line of the same in the background. */
async function textsOf(
  make: (clock: FakeClock) => Pick<ValueOptions<unknown>, 'load'> & Partial<ValueOptions<unknown>>,
): Promise<readonly [message: string, line: string]> {
  const clock = new FakeClock();
  const lines: string[] = [];
  const logger = { warn: (line: string) => void lines.push(line), error: () => {} };
  const value = new RefreshingValue({
    name: 'v',
    timeout: '5s',
    retry: false,
    logger,
    clock,
    ...make(clock),
  } as ValueOptions<unknown>);
  const reason = rejectionOf(value.get());
  await clock.advance(5000);
  const error = await reason;
  expect(error).toMatchObject({ code: 'TIMED_OUT' });
  void value.requestStart({ wait: false });
  await clock.advance(60_000);
  void value.requestStart({ wait: false });
  await clock.advance(60_000);
  return [(error as Error).message, lines.find((line) => line.includes('timed out')) ?? ''];
}

describe('a load that hangs says where', () => {
  it.each<[what: string, text: string, make: Parameters<typeof textsOf>[0]]>([
    [
      'the last source of a firstOf',
      'source 2 (hangs)',
      (clock) => ({ load: firstOf(fails, hangs, { clock }) }),
    ],
    [
      'the first source of one whose own time-out is longer',
      'source 1 (hangs)',
      (clock) => ({ load: firstOf(hangs, fails, { clock }) }),
    ],
    [
      'a source of tickless by its name',
      'source 2: https://prices.example/list?key=…',
      (clock) => ({
        load: firstOf(fails, httpSource('https://prices.example/list?key=secret', { fetch: hangs }), {
          clock,
        }),
      }),
    ],
    [
      'a source alone',
      'https://prices.example/',
      () => ({ load: httpSource('https://prices.example/', { fetch: hangs }) }),
    ],
    [
      'parts of a mergeOf, in a firstOf',
      'source 2: part a: source 1 (hangs), part c',
      (clock) => ({
        load: firstOf(fails, mergeOf({ a: firstOf(hangs, { clock }), b: () => 1, c: hangs }), { clock }),
      }),
    ],
    [
      'many parts, bounded',
      'part p0, part p1, part p2 and 7 more',
      () => ({ load: mergeOf(Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`p${at}`, hangs]))) }),
    ],
    [
      'the guard of a firstOf',
      'source 1 (good): accept',
      (clock) => ({
        load: firstOf(
          function good() {
            return 1;
          },
          { clock, accept: hangs },
        ),
      }),
    ],
    ['the guard of the member', 'accept', () => ({ load: () => 1, accept: hangs })],
    [
      'an asynchronous schema',
      'the schema',
      () => ({
        load: () => 1,
        schema: { '~standard': { version: 1, vendor: 'x', validate: hangs } },
      }),
    ],
  ])('%s', async (_, text, make) => {
    const [message, line] = await textsOf(make);
    expect(message).toBe(`v: load timed out after 5 s, waiting for ${text}`);
    expect(line).toContain(`timed out after 5 s at attempt 1, waiting for ${text}, next try`);
  });

  it('a source that is over is not named', async () => {
    const [message] = await textsOf((clock) => ({
      load: async (context) => {
        await firstOf(fails, () => 1, { clock })(context);
        return hangs();
      },
    }));
    expect(message).toBe('v: load timed out after 5 s');
  });

  it('a source that is passed over for its time: the failure of firstOf names what has hung inside', async () => {
    const clock = new FakeClock();
    const inner = mergeOf({ rates: fileSource('/no/such/file'), codes: hangs });
    const load = firstOf<unknown>(firstOf(hangs, { clock }), inner, () => 1, { clock, timeout: '1s' });
    const value = new RefreshingValue({ name: 'v', load, retry: false, logger: false, clock });
    const read = value.get();
    await clock.advance(1000);
    expect(await read).toBe(1);
    expect(value.inspect().meta?.firstOf).toMatchObject({
      index: 2,
      failures: [
        'no answer within 1 s (source 1 (hangs))',
        expect.stringMatching(/^rates: .no.such.file does not exist/),
      ],
    });
  });

  it('the batch of a key, with its keys', async () => {
    const clock = new FakeClock();
    const cache = new RefreshingCache<string, number>({
      name: 'c',
      loadMany: hangs,
      timeout: '5s',
      retry: false,
      logger: false,
      clock,
    });
    const reasons = ['a', 'b', 'c', 'd', 'e'].map((key) => rejectionOf(cache.get(key)));
    await clock.advance(5000);
    const [first, second] = (await Promise.all(reasons)) as Error[];
    const text = 'waiting for loadMany of 5 keys ("a", "b", "c" and 2 more)';
    expect(first?.message).toBe(`c["a"]: load timed out after 5 s, ${text}`);
    expect(second?.message).toBe(`c["b"]: load timed out after 5 s, ${text}`);
  });
});

describe('a step of a round that hangs is named', () => {
  it.each<[Step, string]>([
    ['acquire', 'lock unavailable, loading without it: no answer within 1 s (acquire)'],
    ['read', 'store unavailable, loads are not shared: no answer within 750 ms (read)'],
    ['write', "the snapshot of v can't be written: no answer within 3 s (write)"],
  ])('%s', async (step, text) => {
    const clock = new FakeClock();
    const lines: string[] = [];
    const logger = {
      warn: (line: string) => void lines.push(line),
      error: (line: string) => void lines.push(line),
    };
    const link = new Link(memoryRecords(clock));
    link.break('no-answer', step);
    const { backend } = link;
    const value = new RefreshingValue({ name: 'v', load: async () => 1, backend, logger, clock });
    const read = value.get();
    await clock.advance(10_000);
    expect(await read).toBe(1);
    expect(lines[0]).toBe(`tickless: backend: ${text}`);
  });

  it('waiting for the holder', async () => {
    const clock = new FakeClock();
    const backend = memoryBackend({ clock });
    const make = (name: string, load: () => Promise<number>, timeout: string): RefreshingValue<number> =>
      new RefreshingValue({ name, load, timeout, backend, retry: false, logger: false, clock } as never);
    const holder = rejectionOf(make('v', hangs, '60s').get());
    await clock.advance(100);
    const waiting = rejectionOf(make('v', async () => 1, '5s').get());
    await clock.advance(5000);
    expect(((await waiting) as Error).message).toMatch(
      /^v: load timed out after 5 s, waiting for the load of .* on .*: the lease with token \d+, held for .*: it ends in .*, unless the holder extends it$/,
    );
    await clock.advance(60_000);
    await holder;
  });
});
