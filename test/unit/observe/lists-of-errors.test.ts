import { describe, expect, it } from 'vitest';
import { RefreshGroup, RefreshingValue } from '../../../src/index.ts';
import { errorJson } from '../../../src/json.ts';
import { messageOf } from '../../../src/observe/logger.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordLines } from '../../support/events.ts';

const named = (count: number): Error[] => Array.from({ length: count }, (_, index) => new Error(`e${index}`));

describe('a list of errors', () => {
  it('of mirrors: its reasons are in the log line, in health, in JSON and in the executions', async () => {
    const logger = recordLines();
    const clock = new FakeClock();
    const refused = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') });
    const mirrors = (): Promise<number> =>
      Promise.any([Promise.reject(refused), Promise.reject(new Error('mirror 2 answered 403'))]);
    const group = new RefreshGroup({ clock, logger, retry: false });
    const rates = group.value({ name: 'rates', load: mirrors, required: true });
    await rates.get().catch(() => {});
    const reasons =
      'All promises were rejected: fetch failed: connect ECONNREFUSED 127.0.0.1:1; mirror 2 answered 403';
    expect(logger.lines).toEqual([expect.stringContaining(`: ${reasons}`)]);
    const [problem] = group.health({ start: false }).problems;
    expect(problem?.message).toContain(reasons);
    expect(JSON.parse(JSON.stringify(rates.inspect())).lastError.cause.errors).toMatchObject([
      { name: 'TypeError', cause: { message: 'connect ECONNREFUSED 127.0.0.1:1' } },
      { message: 'mirror 2 answered 403' },
    ]);
    expect(group.members()[0]?.inspect().executions[0]?.error).toBe(reasons);
  });

  it('is bounded: the first three, each reason once, however long, deep or cyclic it is', () => {
    expect(messageOf(new AggregateError(named(40), 'two of forty'))).toBe(
      'two of forty: e0; e1; e2; and 37 more',
    );
    expect(messageOf(new AggregateError([new Error('same'), new Error('same')], 'all'))).toBe('all: same');
    const cyclic = new AggregateError([new Error('a')], 'cycle');
    cyclic.errors.push(cyclic);
    expect(messageOf(cyclic)).toBe('cycle: a');
    expect(JSON.stringify(errorJson(cyclic)).length).toBeLessThan(2000);
    const nest = (depth: number): Error =>
      new AggregateError(
        Array.from({ length: 50 }, () => (depth === 0 ? new Error('leaf') : nest(depth - 1))),
        `level ${depth}`,
      );
    const deep = nest(2);
    expect(messageOf(deep)).toContain('level 2: level 1: level 0: leaf');
    expect(messageOf(deep).length).toBeLessThanOrEqual(1024);
    expect(JSON.stringify(errorJson(deep)).length).toBeLessThan(5000);
    const huge = Object.assign(new Error('huge'), { errors: Array.from({ length: 1_000_000 }, () => 'x') });
    expect(messageOf(huge)).toBe('huge: x; and 999997 more');
    expect(messageOf(Object.assign(new Error('odd'), { errors: 'none' }))).toBe('odd');
  });

  it('without a message, as of a host of two addresses that refuse', () => {
    const errors = ['connect ::1', 'connect 127.0.0.1'].map((text) => new Error(text));
    const dual = Object.assign(new AggregateError(errors), { code: 'ECONNREFUSED' });
    expect(messageOf(dual)).toBe('ECONNREFUSED: connect ::1; connect 127.0.0.1');
  });

  it('of the tries of a failed load is in its message, the last one first', async () => {
    const clock = new FakeClock();
    let tries = 0;
    const load = (): Promise<number> => Promise.reject(new Error(`try ${++tries}`));
    const retry = { retries: 1, minTimeout: 1 };
    const value = new RefreshingValue({ name: 'v', load, clock, logger: false, retry });
    const read = value.get().catch((error: unknown) => error);
    await clock.advance(10);
    expect(messageOf(await read)).toBe('v: load failed: try 2; earlier tries: try 1');
  });
});
