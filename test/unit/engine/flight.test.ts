import { describe, expect, it } from 'vitest';
import type { ExecutionRecord } from '../../../src/data/execution-record.ts';
import { ActiveLoads } from '../../../src/engine/active-loads.ts';
import { Entry } from '../../../src/engine/entry.ts';
import { Flight, type FlightEnd, type FlightHost } from '../../../src/engine/flight.ts';
import type { LoadContext } from '../../../src/engine/load-context.ts';
import type { FlightScope } from '../../../src/engine/load-handle.ts';
import type { RetryOptions } from '../../../src/engine/retry.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import type { LazyAbort } from '../../../src/time/lazy-abort.ts';
import { HoldingClock } from '../../support/holding-clock.ts';
import { rejectionOf } from '../../support/settle.ts';
import { countListeners } from './support.ts';

const NEVER = new Promise<string>(() => {});
const down = new Error('down');
const fail = (): never => {
  throw down;
};
const loaded = (result: string, attempts = 1) => ({
  kind: 'loaded',
  result,
  attempts,
  isSynchronous: false,
});

/** The load of a flight and its limits. */
interface Plan {
  readonly retry?: RetryOptions;
  readonly timeoutMs?: number;
  readonly attempt?: (attempt: number, abort: LazyAbort) => string | PromiseLike<string>;
  /** Its round in a cluster. */
  readonly wrap?: (tries: () => Promise<unknown>, scope: FlightScope) => Promise<unknown>;
}

interface Made {
  readonly clock: HoldingClock;
  readonly flight: Flight<string>;
  /** How it has settled. */
  readonly outcomes: FlightEnd<string>[];
  /** The signals of its tries. */
  readonly signals: AbortSignal[];
  /** How many results came late. */
  readonly late: () => number;
}

function make(plan: Plan = {}): Made {
  const clock = new HoldingClock();
  const outcomes: FlightEnd<string>[] = [];
  const signals: AbortSignal[] = [];
  const records: ExecutionRecord<Error>[] = [];
  const { wrap, attempt = () => NEVER } = plan;
  const host = {
    options: {
      clock,
      now: () => clock.now(),
      name: 'f',
      retry: plan.retry && { retries: 2, factor: 2, minTimeout: 250, ...plan.retry },
      isRetryDefault: false,
      timeoutMs: plan.timeoutMs ?? 1000,
    },
    events: {
      begin: () => undefined,
      emit: () => {},
      ended: (record: ExecutionRecord<Error>) => records.push(record),
    },
    coordinator: wrap && { begin: () => ({ run: wrap }) },
    active: new ActiveLoads(clock),
    jitter: { after: () => 0 },
    load: (context: LoadContext, _: Entry<string>, abort: LazyAbort) => {
      signals.push(abort.signal);
      return attempt(context.attempt, abort);
    },
    settled: (_: Flight<string>, end: FlightEnd<string>) => outcomes.push(end),
    gone: () => {},
  };
  const details = { trigger: 'first', background: false } as const;
  const flight = new Flight(host as unknown as FlightHost<string>, new Entry<string>(), details);
  const late = (): number => records.filter(({ outcome }) => outcome === 'late').length;
  return { clock, flight, outcomes, signals, late };
}

describe('the timers of a flight', () => {
  it('do so too when the ref came before there were any', async () => {
    const { clock, flight } = make();
    flight.ref();
    flight.startBehind('macrotask');
    expect({ timerCount: clock.timerCount, held: clock.held }).toEqual({ timerCount: 1, held: 1 });
    await clock.flush();
    expect({ timerCount: clock.timerCount, held: clock.held }).toEqual({ timerCount: 1, held: 1 });
  });

  it('a synchronous load needs none, nor does an infinite deadline', () => {
    const synchronous = make({ attempt: () => 'x' });
    synchronous.flight.start();
    expect(synchronous.outcomes).toEqual([{ ...loaded('x'), isSynchronous: true }]);
    const endless = make({ timeoutMs: Infinity });
    endless.flight.start();
    expect([synchronous.clock.timerCount, endless.clock.timerCount]).toEqual([0, 0]);
  });

  it.each([
    ['end', ({ flight }: Made) => flight.end(new Error('superseded'))],
    ['fail', ({ flight }: Made) => flight.fail(new Error('lost'))],
    ['the deadline', ({ clock }: Made) => clock.advance(1000)],
  ])('none is left after %s', async (_, end) => {
    const made = make({ wrap: (tries, { sleep }) => sleep(5000).then(tries) });
    made.flight.ref();
    made.flight.start();
    expect({ timerCount: made.clock.timerCount, held: made.clock.held }).toEqual({ timerCount: 2, held: 2 });
    await end(made);
    expect({ timerCount: made.clock.timerCount, held: made.clock.held }).toEqual({ timerCount: 0, held: 0 });
  });
});

describe('the start of a flight', () => {
  it.each(['microtask', 'macrotask'] as const)(
    'behind the caller (%s) happens once, and not after its end',
    async (turn) => {
      const hurried = make();
      hurried.flight.startBehind(turn);
      expect(hurried.signals).toHaveLength(0);
      hurried.flight.start();
      await hurried.clock.flush();
      expect([hurried.signals.length, hurried.clock.timerCount]).toEqual([1, 1]);
      const ended = make();
      ended.flight.startBehind(turn);
      ended.flight.end(new Error('superseded'));
      await ended.clock.flush();
      expect([ended.signals, ended.outcomes, ended.clock.timerCount]).toEqual([[], [], 0]);
    },
  );

  it('sets no timer after its end', () => {
    const { clock, flight } = make();
    flight.end(new Error('superseded'));
    flight.startBehind('macrotask');
    expect(clock.timerCount).toBe(0);
  });

  it('behind the caller is in the next microtask, or after all microtasks', async () => {
    const story: string[] = [];
    const attempt = (): string => {
      story.push('try');
      return 'x';
    };
    make({ attempt }).flight.startBehind('microtask');
    await Promise.resolve();
    story.push('job');
    const later = make({ attempt });
    later.flight.startBehind('macrotask');
    for (let job = 0; job < 5; job++) await Promise.resolve();
    story.push('jobs');
    await later.clock.flush();
    expect(story).toEqual(['try', 'job', 'jobs', 'try']);
  });
});

describe('the deadline of a flight', () => {
  it('includes the time for which the first try blocked the stack', async () => {
    const { clock, flight, outcomes } = make();
    const { monotonic } = clock;
    let calls = 0;
    clock.monotonic = () => monotonic.call(clock) + (calls++ === 0 ? 0 : 400); // the first try takes 400 ms
    flight.start();
    await clock.advance(599);
    expect(outcomes).toEqual([]);
    await clock.advance(1);
    expect(outcomes).toMatchObject([{ kind: 'timed-out', attempts: 1 }]);
  });

  it('is known to the wrapper, which may sleep until then', async () => {
    const seen: unknown[] = [];
    const { clock, flight, outcomes } = make({
      attempt: () => 'x',
      wrap: async (tries, { drainDeadline, sleep, signal }) => {
        seen.push(drainDeadline(), signal.aborted);
        await sleep(999);
        return tries();
      },
    });
    await clock.advance(50);
    flight.start();
    await clock.advance(998);
    expect({ seen, outcomes }).toEqual({ seen: [1050, false], outcomes: [] });
    await clock.advance(1);
    expect(outcomes).toEqual([loaded('x')]);
  });
});

describe('the end of a flight', () => {
  it('from outside does not settle it; a late result is reported, a late failure is not', async () => {
    const load = new Deferred<string>();
    const succeeding = make({ attempt: () => load.promise });
    const failing = make({ attempt: () => load.promise.then(fail) });
    const reason = new Error('superseded');
    for (const { flight } of [succeeding, failing]) {
      flight.start();
      flight.end(reason);
      flight.fail(new Error('too late'));
    }
    expect(succeeding.signals[0]?.reason).toBe(reason);
    load.resolve('late');
    await succeeding.clock.flush();
    expect([succeeding.outcomes, failing.outcomes]).toEqual([[], []]);
    expect([succeeding.late(), failing.late()]).toEqual([1, 0]);
  });

  it('has no effect after it has settled: the signal of a successful load is not aborted', () => {
    const { flight, outcomes, signals } = make({ attempt: () => 'x' });
    flight.start();
    flight.end(new Error('too late'));
    expect([outcomes.length, signals[0]?.aborted]).toEqual([1, false]);
  });

  it('by its own first try leaves no deadline', () => {
    const made = make({
      attempt: () => {
        made.flight.end(new Error('superseded by its own load'));
        return NEVER;
      },
    });
    made.flight.start();
    expect(made.clock.timerCount).toBe(0);
  });

  it('rejects each sleep with the reason, those that begin later too', async () => {
    const reason = new Error('superseded');
    const rejections: unknown[] = [];
    const { clock, flight } = make({
      wrap: async (_, { sleep }) => {
        rejections.push(await rejectionOf(sleep(500)));
        rejections.push(await rejectionOf(sleep(1)));
        return 'x';
      },
    });
    flight.start();
    flight.end(reason);
    await clock.flush();
    expect([rejections, clock.timerCount]).toEqual([[reason, reason], 0]);
  });

  it('finds no listener on its signal for a sleep that has ended', async () => {
    let listeners = (): number => Number.NaN;
    const { clock, flight, outcomes } = make({
      attempt: () => 'x',
      wrap: async (tries, { sleep, signal }) => {
        listeners = countListeners(signal);
        for (let pause = 0; pause < 3; pause++) await sleep(10);
        return tries();
      },
    });
    flight.start();
    await clock.advance(30);
    expect({ outcomes: outcomes.length, listeners: listeners() }).toEqual({ outcomes: 1, listeners: 0 });
  });
});

describe('the tries of a flight', () => {
  it.each([
    [100, 1],
    [101, 2],
  ])('with a deadline of %i ms and a pause of 100 ms are %i', async (timeoutMs, tries) => {
    const { clock, flight, outcomes, signals } = make({
      timeoutMs,
      retry: { retries: 1, minTimeout: 100 },
      attempt: () => Promise.reject(down),
    });
    flight.start();
    await clock.advance(100);
    expect(signals).toHaveLength(tries);
    expect(outcomes).toEqual([{ kind: 'failed', error: down, attempts: tries }]);
    expect(clock.timerCount).toBe(0);
  });

  it('stop once the wrapper has returned a result', async () => {
    const ended: unknown[] = [];
    const { clock, flight, outcomes, signals } = make({
      retry: { retries: 5, minTimeout: 10 },
      attempt: () => Promise.resolve().then(fail),
      wrap: async (tries) => {
        void tries().catch((error: unknown) => ended.push(error));
        return 'remote';
      },
    });
    flight.start();
    await clock.advance(500);
    expect(outcomes).toMatchObject([{ kind: 'loaded', result: 'remote' }]);
    expect([signals.length, ended, clock.timerCount]).toEqual([1, [down], 0]);
  });

  it.each([
    ['a synchronous result', () => 'x', loaded('x')],
    ['a result', () => Promise.resolve('y'), loaded('y')],
    ['an error', fail, { kind: 'failed', error: down, attempts: 1 }],
  ])('pass %s through the wrapper', async (_, attempt, outcome) => {
    const { clock, flight, outcomes } = make({ attempt, wrap: (tries) => tries() });
    flight.start();
    await clock.flush();
    expect(outcomes).toEqual([outcome]);
  });
});
