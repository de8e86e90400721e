import { describe, expect, it } from 'vitest';
import { AnswerWatch, OverdueError, SilenceError } from '../../../src/cluster/answer-watch.ts';
import { BackendAccess } from '../../../src/cluster/backend-access.ts';
import { RefreshingCache, RefreshingValue } from '../../../src/index.ts';
import { FakeClock, virtualCluster } from '../../../src/testing/index.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { type Link, MachineClock, ManualCluster, WITHOUT_CHECKS } from '../../support/cluster.ts';
import { rejectionOf } from '../../support/settle.ts';

const TIMEOUT_MS = 1000;
/** Never, within a test. */
const NEVER_MS = 1e9;

function watched() {
  const clock = new FakeClock();
  const watch = new AnswerWatch(TIMEOUT_MS, () => {});
  const begunAt = clock.monotonic();
  /** A step that is answered after that time, and how long it was waited for. */
  const waitFor = (answerAfter: number, mostMs = 15_000) => {
    let sent = 0;
    const step = (): Promise<string> => {
      sent += 1;
      return sent === 1 ? answered(clock, answerAfter) : new Promise(() => {});
    };
    const ended = watch.wait(step, clock, { silenceMs: TIMEOUT_MS, mostMs }).then(
      (answer) => answer,
      (error: Error) => error,
    );
    const state = { result: undefined as string | Error | undefined, endedAt: Number.NaN, sent: () => sent };
    void ended.then((result) => Object.assign(state, { result, endedAt: clock.monotonic() - begunAt }));
    return state;
  };
  return { clock, watch, waitFor };
}

function answered(clock: FakeClock, ms: number): Promise<string> {
  return new Promise((resolve) => void clock.setTimeout(() => resolve('answer'), ms));
}

describe('a step whose answer is late', () => {
  it('fails after one time-out where the backend answers nothing', async () => {
    const { clock, waitFor } = watched();
    const silent = waitFor(NEVER_MS);
    await clock.advance(999);
    expect(silent.result).toBeUndefined();
    await clock.advance(1);
    expect(silent.result).toBeInstanceOf(SilenceError);
    expect(silent.result).toMatchObject({ code: 'ETIMEDOUT', message: 'no answer within 1 s' });
    expect(clock.timerCount).toBe(1); // the answer to come
  });

  it('is waited for while the backend answers others', async () => {
    const { clock, waitFor } = watched();
    const slow = waitFor(4000);
    for (let i = 0; i < 5; i++) {
      waitFor(100);
      await clock.advance(900);
    }
    expect([slow.result, slow.endedAt]).toEqual(['answer', 4000]);
  });

  it('is waited for after an answer that came too late for its own step', async () => {
    const { clock, waitFor } = watched();
    const first = waitFor(1500);
    await clock.advance(1400);
    expect(first.result).toBeInstanceOf(SilenceError);
    const second = waitFor(1500); // 100 ms later the first is answered: silence is longer than 1.5 s from now on
    await clock.advance(1500);
    expect(second.result).toBe('answer');
  });

  it('is sent once more after three time-outs, and is overdue in the end, where others have answers', async () => {
    const { clock, waitFor } = watched();
    const lost = waitFor(NEVER_MS, 5000);
    const sent: number[] = [];
    for (let i = 0; i < 12; i++) {
      waitFor(10);
      await clock.advance(500);
      sent.push(lost.sent());
    }
    expect(sent).toEqual([1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2]);
    expect([lost.endedAt, lost.result]).toEqual([5000, expect.any(OverdueError)]);
  });

  it('is waited for longer in a crowd: a time-out for each 500', async () => {
    const { clock, waitFor } = watched();
    const crowd = Array.from({ length: 1200 }, () => waitFor(2500));
    await clock.advance(2500);
    expect(crowd.every(({ result }) => result === 'answer')).toBe(true);
  });

  it('is not taken for silence by a process that stood still', async () => {
    const base = new FakeClock();
    const clock = new MachineClock(base);
    const watch = new AnswerWatch(TIMEOUT_MS, () => {});
    const ended = watch.wait(() => answered(base, 3000), clock, { silenceMs: TIMEOUT_MS, mostMs: 15_000 });
    await base.advance(100);
    clock.stop();
    await base.advance(2800);
    clock.continue();
    await base.advance(200);
    expect(await ended).toBe('answer');
  });
});

describe('a step that is of no use any longer when its turn comes', () => {
  it('is not run, and ends no outage', async () => {
    const clock = new FakeClock();
    const access = new BackendAccess({}, 1000);
    await access.ask(() => Promise.reject(new Error('down')), clock);
    await clock.advance(60_000);
    let runs = 0;
    const step = async (): Promise<void> => {
      runs += 1;
    };
    const asked = await access.ask(step, clock, { isWrite: true, isWanted: () => false });
    expect([asked.kind, runs, access.breaker.isTripped]).toEqual(['open', 0, true]);
    expect((await access.ask(step, clock, { isWrite: true, isWanted: () => true })).kind).toBe('answered');
    expect([runs, access.breaker.isTripped]).toEqual([1, false]);
  });

  it('lets the next one be the first to ask', async () => {
    const clock = new FakeClock();
    const access = new BackendAccess({}, 1000);
    let isWanted = true;
    const failing = access.ask(() => Promise.reject(new Error('down')), clock, { isWrite: true });
    const late = access.ask(async () => 'late', clock, { isWrite: true, isWanted: () => isWanted });
    const next = access.ask(async () => 'next', clock, { isWrite: true });
    isWanted = false;
    expect((await failing).kind).toBe('failed');
    expect(await late).toMatchObject({ kind: 'open', openFor: 0 });
    expect(await next).toEqual({ kind: 'answered', answer: 'next' });
  });
});

describe('a circuit breaker', () => {
  it('stays closed where a step is overdue, and its backend answers others', async () => {
    const clock = new FakeClock();
    const access = new BackendAccess({}, TIMEOUT_MS);
    const asked = await access.ask(() => Promise.reject(new OverdueError('no answer within 5 s')), clock);
    expect([asked.kind, access.breaker.isTripped]).toEqual(['failed', false]);
  });

  it('is closed by the answer of a step that no caller waits for any longer', async () => {
    const clock = new FakeClock();
    const access = new BackendAccess({}, TIMEOUT_MS);
    const step = () => access.answers.wait(() => answered(clock, 1100), clock, { silenceMs: TIMEOUT_MS });
    const asked = access.ask(step, clock);
    await clock.advance(1000);
    expect([(await asked).kind, access.breaker.openFor(clock.monotonic())]).toEqual(['failed', 250]);
    await clock.advance(100);
    expect([access.breaker.isTripped, access.breaker.openFor(clock.monotonic())]).toEqual([false, 0]);
  });
});

/** A value whose steps are answered at once, and which is due all the time. */
function busyMember(cluster: ManualCluster, { lock, store }: Link) {
  const { clock } = cluster;
  const value = new RefreshingValue({
    name: 'o',
    load: async () => 1,
    schedule: 300,
    clock,
    logger: false,
    backend: { lock, store },
  });
  return async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 400) {
      await value.get();
      await clock.advance(400);
    }
  };
}

describe('instances whose backends answer some of their steps late', () => {
  it('load once for all, and reject no read', async () => {
    const cluster = new ManualCluster({}, 30_000);
    const { clock } = cluster;
    const loads: number[] = [];
    const link = cluster.link();
    const busy = busyMember(cluster, link);
    link.fault = (step, { name }) =>
      step !== 'check' && name.startsWith('c') ? answered(clock, 4000) : undefined;
    const caches = ['a', 'b', 'c'].map(
      () =>
        new RefreshingCache<number, number>({
          name: 'c',
          load: async (key) => {
            loads.push(key);
            return key;
          },
          clock,
          logger: false,
          backend: { lock: link.lock, store: link.store },
        }),
    );
    await busy(400);
    const found = Promise.all(caches.map((cache) => cache.getMany([0, 1, 2, 3, 4])));
    await busy(40_000);
    expect((await found).map(({ size }) => size)).toEqual([5, 5, 5]);
    expect(loads).toHaveLength(5);
  });

  it('give back the lease of a request that was sent twice, if the first answer has been used and released', async () => {
    const cluster = new ManualCluster({}, 30_000);
    const { clock } = cluster;
    const { value, manual, link } = cluster.instance();
    const busy = busyMember(cluster, link);
    let acquires = 0;
    const secondArrives = new Deferred<void>();
    link.fault = (step, { name }) => {
      if (step !== 'acquire' || name === 'o') return undefined;
      acquires += 1;
      return acquires === 1 ? answered(clock, 3500) : { arrives: secondArrives.promise };
    };
    await busy(400);
    const first = rejectionOf(value.get());
    await busy(4000);
    expect([acquires, manual.calls.length]).toEqual([2, 1]);
    manual.call(0).reject(new Error('the source fails'));
    await first;
    await busy(4000); // the hold of its release is over
    secondArrives.resolve();
    await clock.flush();
    expect(await cluster.lock.inspect('v')).toMatchObject({ state: 'abandoned', leaseLeft: 0 });
  });
});

it('a lease that came too late holds back no instance with a newer value of its own', async () => {
  let loads = 0;
  const cluster = virtualCluster({
    instances: 2,
    source: () => `load ${++loads}`,
    backend: { keepVersions: 2 },
    service: ({ source, name, ...given }) =>
      new RefreshingValue({
        ...given,
        name: 'v',
        load: () => source(),
        schedule: { seconds: 10 },
        propagateWithin: WITHOUT_CHECKS,
        logger: false,
      }),
  });
  const [{ service: one }, { service: other }] = cluster.instances;
  await one.get();
  await other.get();
  await cluster.advance(10_100);
  await one.get();
  await cluster.flush();
  await one.close();
  cluster.backend.slow(3000);
  const refreshed = other.refresh({ here: true }); // without the lock; its lease is given back when it has come
  await cluster.advance(8000);
  expect(await refreshed).toBe('load 3');
  cluster.backend.up();
  const commands = cluster.backend.calls.length;
  const read = (value: typeof other): void => {
    if (value === other) void other.get();
  };
  await cluster.run({ minutes: 5 }, { every: 500, read });
  expect(other.inspect().age).toBeLessThan(11_000);
  expect(loads).toBeGreaterThan(25);
  expect(cluster.backend.calls.length - commands).toBeLessThan(100); // three a round
});
