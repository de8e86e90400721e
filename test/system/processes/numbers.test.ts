import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { isTicklessError, RefreshingValue } from '../../../src/index.ts';
import { isOutcome, onCoolDown, recordEvents } from '../../support/events.ts';

/** Waits until the condition holds, at most ten seconds. */
async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > end) throw new Error('the condition did not hold within ten seconds');
    await sleep(2);
  }
}

describe('in real time, on the clock of the machine', () => {
  it('40 reads during an outage: all served, one load per cool-down', async () => {
    let isDown = false;
    let loads = 0;
    const failedAt: number[] = [];
    const load = async () => {
      loads += 1;
      if (!isDown) return 'value';
      failedAt.push(performance.now());
      throw new Error('down');
    };
    const value = new RefreshingValue({
      name: 'v',
      load,
      schedule: 20,
      retry: false,
      coolDown: 120,
      logger: false,
    });
    expect(await value.get()).toBe('value');
    const startedAt: number[] = [];
    const coolDowns: number[] = [];
    value.on('load-started', () => startedAt.push(performance.now()));
    onCoolDown(value, (delay) => coolDowns.push(delay));

    isDown = true;
    loads = 0;
    await sleep(25); // the period is over
    const begin = performance.now();
    const served: string[] = [];
    for (let read = 0; read < 40; read++) {
      served.push(await value.get());
      await sleep(10);
    }
    const outageMs = performance.now() - begin;

    expect(served).toEqual(Array(40).fill('value'));
    expect(loads).toBe(startedAt.length);
    expect(loads).toBeGreaterThanOrEqual(2); // it does try again
    expect(loads).toBeLessThanOrEqual(Math.floor(outageMs / 60) + 1); // half of 120 ms is the shortest cool-down
    for (const [i, delay] of coolDowns.entries()) {
      const next = startedAt[i + 1] ?? Number.POSITIVE_INFINITY;
      expect(next - (failedAt[i] as number)).toBeGreaterThanOrEqual(delay);
    }
  });

  it('a load of 300 ms, due every 30 ms, read every 5 ms: never two live loads', async () => {
    let live = 0;
    let mostLive = 0;
    let loads = 0;
    const load = async () => {
      mostLive = Math.max(mostLive, ++live);
      await sleep(300);
      live -= 1;
      return ++loads;
    };
    const value = new RefreshingValue({ name: 'v', load, schedule: 30 });
    await value.get();
    let reads = 0;
    for (const end = performance.now() + 2000; performance.now() < end; reads++) {
      value.current;
      expect(await value.get()).toBeLessThanOrEqual(loads);
      await sleep(5);
    }
    expect(mostLive).toBe(1);
    expect(loads).toBeGreaterThanOrEqual(3);
    expect(loads).toBeLessThan(reads); // a read starts one at most
    await value.close();
  });

  it('a load that never settles is freed at its deadline, and the value refreshes again', async () => {
    let hangs = false;
    let loads = 0;
    const signals: AbortSignal[] = [];
    const load = ({ signal }: { signal: AbortSignal }) => {
      loads += 1;
      signals.push(signal);
      return hangs ? new Promise<number>(() => {}) : Promise.resolve(loads);
    };
    const options = { schedule: 10, timeout: 60, coolDown: 10, logger: false } as const;
    const value = new RefreshingValue({ name: 'v', load, ...options });
    const events = recordEvents(value);
    expect(await value.get()).toBe(1);

    hangs = true;
    await until(() => value.current === 1 && events.some(isOutcome('timed-out')));
    expect(signals[1]?.aborted).toBe(true);
    expect(isTicklessError(signals[1]?.reason, 'TIMED_OUT')).toBe(true);

    hangs = false;
    await until(() => value.current > 1);
    expect(value.inspect().failures).toBe(0);
    expect(signals.filter(({ aborted }) => !aborted).length).toBeGreaterThanOrEqual(2);
    await value.close();
  });
});
