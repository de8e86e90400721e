import { describe, expect, it } from 'vitest';
import { Flight, type FlightPlan, type Outcome } from '../../../src/engine/flight.ts';
import { LoadTimeoutError } from '../../../src/errors.ts';
import { HoldingClock } from '../../support/holding-clock.ts';
import { rejectionOf } from '../../support/settle.ts';

const NEVER = new Promise<string>(() => {});

interface Made {
  readonly clock: HoldingClock;
  readonly flight: Flight<string>;
  readonly landed: Outcome<string>[];
  readonly late: () => number;
}

function make(plan: Partial<FlightPlan<string>> = {}): Made {
  const clock = new HoldingClock();
  const landed: Outcome<string>[] = [];
  let late = 0;
  const flight = new Flight<string>({
    clock,
    random: () => 0,
    retry: undefined,
    timeoutMs: 1000,
    attempt: () => NEVER,
    around: undefined,
    restAfter: () => 0,
    timeoutReason: (attempts, cause) =>
      new LoadTimeoutError('too long', { cacheName: 'f', attempts, timeout: 1000, cause }),
    land: (outcome) => void landed.push(outcome),
    late: () => {
      late += 1;
    },
    ...plan,
  });
  return { clock, flight, landed, late: () => late };
}

/** Ends a promise from outside. */
function manual(): { promise: Promise<string>; resolve: (value: string) => void } {
  let resolve = (_: string): void => {};
  const promise = new Promise<string>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe('the timers of a flight', () => {
  it('keep the process alive from the first that holds it to the last that releases it', () => {
    const { clock, flight } = make();
    flight.depart();
    expect([clock.timerCount, clock.held]).toEqual([1, 0]);
    flight.hold();
    flight.hold();
    expect(clock.held).toBe(1);
    flight.release();
    expect(clock.held).toBe(1);
    flight.release();
    expect(clock.held).toBe(0);
    flight.hold();
    expect(clock.held).toBe(1);
  });

  it('do so also when it was held before there were any', async () => {
    const { clock, flight } = make();
    flight.hold();
    flight.departBehind('macrotask');
    expect([clock.timerCount, clock.held]).toEqual([1, 1]);
    await clock.flush();
    expect([clock.timerCount, clock.held]).toEqual([1, 1]);
  });

  it('there is none for a load that is synchronous, nor for an infinite deadline', () => {
    const synchronous = make({ attempt: () => 'x' });
    synchronous.flight.depart();
    expect(synchronous.landed).toEqual([{ kind: 'answered', answer: 'x', attempts: 1, isSynchronous: true }]);
    const endless = make({ timeoutMs: Infinity });
    endless.flight.depart();
    expect([synchronous.clock.timerCount, endless.clock.timerCount]).toEqual([0, 0]);
  });

  it('there is none after its end, whichever that is', async () => {
    for (const end of [
      ({ flight }: Made) => flight.end(new Error('superseded')),
      ({ flight }: Made) => flight.fail(new Error('lost')),
      ({ clock }: Made) => clock.advance(1000),
    ]) {
      const made = make({ around: (tries, { sleep }) => sleep(5000).then(tries) });
      made.flight.hold();
      made.flight.depart();
      expect([made.clock.timerCount, made.clock.held]).toEqual([2, 2]);
      await end(made);
      expect([made.clock.timerCount, made.clock.held]).toEqual([0, 0]);
    }
  });
});

describe('the departure of a flight', () => {
  it('is made once, though it is hurried while it waits for its turn', async () => {
    for (const turn of ['microtask', 'macrotask'] as const) {
      let tries = 0;
      const { clock, flight } = make({
        attempt: () => {
          tries += 1;
          return NEVER;
        },
      });
      flight.departBehind(turn);
      expect(tries).toBe(0);
      flight.depart();
      await clock.flush();
      expect([tries, clock.timerCount]).toEqual([1, 1]);
    }
  });

  it('is not made any more after its end', async () => {
    for (const turn of ['microtask', 'macrotask'] as const) {
      let tries = 0;
      const { clock, flight, landed } = make({
        attempt: () => {
          tries += 1;
          return 'x';
        },
      });
      flight.departBehind(turn);
      flight.end(new Error('superseded'));
      await clock.flush();
      expect([tries, landed, clock.timerCount]).toEqual([0, [], 0]);
    }
  });

  it('is not even waited for after its end', () => {
    const { clock, flight } = make();
    flight.end(new Error('superseded'));
    flight.departBehind('macrotask');
    expect(clock.timerCount).toBe(0);
  });

  it('behind the caller: in the next microtask, or after all microtasks', async () => {
    const story: string[] = [];
    const attempt = (): string => {
      story.push('try');
      return 'x';
    };
    const soon = make({ attempt });
    soon.flight.departBehind('microtask');
    await Promise.resolve();
    story.push('job');
    const later = make({ attempt });
    later.flight.departBehind('macrotask');
    for (let job = 0; job < 5; job++) await Promise.resolve();
    story.push('jobs');
    await later.clock.flush();
    expect(story).toEqual(['try', 'job', 'jobs', 'try']);
  });
});

describe('the deadline of a flight', () => {
  it('counts what the first try held the stack for', async () => {
    const { clock, flight, landed } = make();
    const { monotonic } = clock;
    let asked = 0;
    clock.monotonic = () => monotonic.call(clock) + (asked++ === 0 ? 0 : 400); // the first try takes 400 ms
    flight.depart();
    await clock.advance(599);
    expect(landed).toEqual([]);
    await clock.advance(1);
    expect(landed).toMatchObject([{ kind: 'timed-out', attempts: 1 }]);
  });

  it('is told to what goes around the tries, who may sleep until it passes', async () => {
    const told: number[] = [];
    const { clock, flight, landed } = make({
      attempt: () => 'x',
      around: async (tries, { deadlineAt, sleep, signal }) => {
        told.push(deadlineAt, signal.aborted ? 1 : 0);
        await sleep(999);
        return tries();
      },
    });
    await clock.advance(50);
    flight.depart();
    await clock.advance(998);
    expect([told, landed]).toEqual([[1050, 0], []]);
    await clock.advance(1);
    expect(landed).toEqual([{ kind: 'answered', answer: 'x', attempts: 1, isSynchronous: false }]);
  });

  it('aborts the load with the error with which it lands, and counts no try where there was none', async () => {
    const signals: AbortSignal[] = [];
    const { clock, flight, landed } = make({
      around: (_, { signal }) => {
        signals.push(signal);
        return NEVER;
      },
    });
    flight.depart();
    await clock.advance(1000);
    expect(landed).toMatchObject([{ kind: 'timed-out', attempts: 0 }]);
    expect(signals[0]?.reason).toBe((landed[0] as { error: unknown }).error);
  });
});

describe('a flight that is ended', () => {
  it('from inside lands once, as failed, and then no more', async () => {
    const load = manual();
    const { clock, flight, landed, late } = make({ attempt: () => load.promise });
    const error = new Error('lost');
    flight.depart();
    flight.fail(error);
    flight.fail(new Error('again'));
    flight.end(new Error('and again'));
    expect(landed).toEqual([{ kind: 'failed', error, attempts: 1 }]);
    load.resolve('late');
    await clock.flush();
    expect([landed.length, late()]).toEqual([1, 1]);
  });

  it('from outside does not land, tells what came late, and says nothing of a late failure', async () => {
    const signals: AbortSignal[] = [];
    const load = manual();
    const succeeding = make({
      attempt: (_, signal) => {
        signals.push(signal);
        return load.promise;
      },
    });
    const failing = make({ attempt: () => load.promise.then(() => Promise.reject(new Error('down'))) });
    const reason = new Error('superseded');
    for (const { flight } of [succeeding, failing]) {
      flight.depart();
      flight.end(reason);
      flight.fail(new Error('too late'));
    }
    expect(signals[0]?.reason).toBe(reason);
    load.resolve('late');
    await succeeding.clock.flush();
    expect([succeeding.landed, failing.landed]).toEqual([[], []]);
    expect([succeeding.late(), failing.late()]).toEqual([1, 0]);
  });

  it('after it has landed is nothing new: the signal of a load that succeeded is not aborted', () => {
    const signals: AbortSignal[] = [];
    const { flight, landed } = make({
      attempt: (_, signal) => {
        signals.push(signal);
        return 'x';
      },
    });
    flight.depart();
    flight.end(new Error('too late'));
    expect([landed.length, signals[0]?.aborted]).toEqual([1, false]);
  });

  it('by a listener to its own first try starts no deadline', async () => {
    const { clock, flight } = make({
      attempt: () => {
        flight.end(new Error('superseded by its own load'));
        return NEVER;
      },
    });
    flight.depart();
    expect(clock.timerCount).toBe(0);
  });

  it('wakes who sleeps in it with the reason, and lets nobody fall asleep any more', async () => {
    const reason = new Error('superseded');
    const woken: unknown[] = [];
    const { clock, flight } = make({
      around: async (_, { sleep }) => {
        woken.push(await rejectionOf(sleep(500)));
        woken.push(await rejectionOf(sleep(1)));
        return 'x';
      },
    });
    flight.depart();
    flight.end(reason);
    await clock.flush();
    expect([woken, clock.timerCount]).toEqual([[reason, reason], 0]);
  });

  it('leaves no listener on its signal for each pause that was slept to its end', async () => {
    let listening = 0;
    const { clock, flight, landed } = make({
      attempt: () => 'x',
      around: async (tries, { sleep, signal }) => {
        const { addEventListener, removeEventListener } = signal;
        signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
          listening += args[0] === 'abort' ? 1 : 0;
          addEventListener.apply(signal, args);
        };
        signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
          listening -= args[0] === 'abort' ? 1 : 0;
          removeEventListener.apply(signal, args);
        };
        for (let pause = 0; pause < 3; pause++) await sleep(10);
        return tries();
      },
    });
    flight.depart();
    await clock.advance(30);
    expect([landed.length, listening]).toEqual([1, 0]);
  });
});

describe('the pauses between the tries of a flight', () => {
  const down = new Error('down');

  it('are not begun when they would last until the deadline, to the millisecond', async () => {
    for (const [timeoutMs, tries] of [
      [100, 1],
      [101, 2],
    ] as const) {
      const attempts: number[] = [];
      const { clock, flight, landed } = make({
        timeoutMs,
        retry: { retries: 1, minTimeout: 100 },
        attempt: (attempt) => {
          attempts.push(attempt);
          return Promise.reject(down);
        },
      });
      flight.depart();
      await clock.advance(100);
      expect(attempts).toHaveLength(tries);
      expect(landed).toEqual([{ kind: 'failed', error: down, attempts: tries }]);
      expect(clock.timerCount).toBe(0);
    }
  });

  it('are as long as the source asks for, or longer', async () => {
    const attempts: number[] = [];
    const { clock, flight, landed, late } = make({
      retry: { retries: 2, minTimeout: 100, factor: 4 },
      restAfter: () => 200,
      attempt: (attempt) => {
        attempts.push(clock.monotonic());
        return attempt < 3 ? Promise.reject(down) : 'x';
      },
    });
    flight.depart();
    await clock.advance(999);
    expect(attempts).toEqual([0, 200, 600]);
    expect([landed.length, late()]).toEqual([1, 0]);
  });

  it('are not begun once what goes around the tries has brought something', async () => {
    const ended: unknown[] = [];
    let tried = 0;
    const { clock, flight, landed } = make({
      retry: { retries: 5, minTimeout: 10 },
      attempt: async () => {
        tried += 1;
        await Promise.resolve();
        throw down;
      },
      around: async (tries) => {
        void tries().catch((error: unknown) => ended.push(error));
        return 'from elsewhere';
      },
    });
    flight.depart();
    await clock.advance(500);
    expect(landed).toMatchObject([{ kind: 'answered', answer: 'from elsewhere' }]);
    expect([tried, ended, clock.timerCount]).toEqual([1, [down], 0]);
  });

  it('a synchronous first try that throws is retried too, and without retries fails at once', async () => {
    const attempt = (number: number): string => {
      if (number === 1) throw down;
      return 'x';
    };
    const retried = make({ attempt, retry: { retries: 1, minTimeout: 10 } });
    const once = make({ attempt });
    retried.flight.depart();
    once.flight.depart();
    expect(once.landed).toEqual([{ kind: 'failed', error: down, attempts: 1 }]);
    await retried.clock.advance(10);
    expect(retried.landed).toEqual([{ kind: 'answered', answer: 'x', attempts: 2, isSynchronous: false }]);
    expect([retried.clock.timerCount, once.clock.timerCount]).toEqual([0, 0]);
  });

  it('around which something is done: what the tries bring is handed on, be it a value or an error', async () => {
    const around: FlightPlan<string>['around'] = (tries) => tries();
    const outcomes: Outcome<string>[] = [];
    for (const plan of [
      { attempt: () => 'x' },
      { attempt: () => Promise.resolve('y') },
      {
        attempt: () => {
          throw down;
        },
      },
    ]) {
      const { clock, flight, landed } = make({ ...plan, around });
      flight.depart();
      await clock.flush();
      outcomes.push(...landed);
    }
    expect(outcomes).toEqual([
      { kind: 'answered', answer: 'x', attempts: 1, isSynchronous: false },
      { kind: 'answered', answer: 'y', attempts: 1, isSynchronous: false },
      { kind: 'failed', error: down, attempts: 1 },
    ]);
  });

  it('end at the deadline, which names the error of the last try', async () => {
    const { clock, flight, landed } = make({
      retry: { retries: 1, minTimeout: 10 },
      attempt: (attempt) => (attempt === 1 ? Promise.reject(down) : NEVER),
    });
    flight.depart();
    await clock.advance(1000);
    expect(landed).toMatchObject([{ kind: 'timed-out', attempts: 2, error: { cause: down } }]);
  });
});
