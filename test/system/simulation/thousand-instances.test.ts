import { expect, it } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';
import { memoryRecords } from '../../../src/records/memory-records.ts';
import { createSignals } from '../../../src/signals/create-signals.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { Link } from '../../support/cluster.ts';

const INSTANCES = 1000;
const MEMBERS = 100;
const WITHIN = 5000;
const TICK = 100;

/** Begins at the same instant on all instances, as after a deploy. Only one member of each is read. */
class Fleet {
  readonly clock: FakeClock = new FakeClock();
  /** When each command came, in milliseconds. */
  readonly checks: number[] = [];
  readonly reads: number[] = [];
  readonly values: RefreshingValue<number>[] = [];
  readonly #listeners: Set<(text: string) => void> = new Set();

  constructor() {
    const records = memoryRecords(this.clock);
    const signals = (): ReturnType<typeof createSignals> =>
      createSignals({
        send: (text) => this.#listeners.forEach((listener) => void listener(text)),
        listen: (onMessage) => {
          this.#listeners.add(onMessage);
          return () => this.#listeners.delete(onMessage);
        },
      });
    const now = (): number => this.clock.monotonic();
    for (let instance = 0; instance < INSTANCES; instance++) {
      const link = new Link(records, { signals: signals() });
      link.fault = (step) => {
        if (step === 'read') this.reads.push(now());
        if (step === 'check') this.checks.push(now());
        return undefined;
      };
      for (let member = 0; member < MEMBERS; member++) {
        const value = new RefreshingValue({
          ...{ name: `v${member}`, clock: this.clock, logger: false as const },
          backend: link.backend, // a change of the first one reaches all instances
          ...{ propagateWithin: WITHIN, schedule: { hours: 1 }, load: () => 0, required: false },
          initial: { value: 0, loadedAt: this.clock.now() },
        });
        if (member === 0) this.values.push(value);
      }
    }
  }

  async readFor(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += TICK) {
      for (const value of this.values) value.current;
      await this.clock.advance(TICK);
    }
  }

  /** The most commands in any second of a time. */
  static peak(commands: readonly number[], from: number, until: number): number {
    let most = 0;
    for (let second = from; second <= until - 1000; second += TICK) {
      most = Math.max(most, commands.filter((at) => at >= second && at < second + 1000).length);
    }
    return most;
  }
}

it('a thousand instances with a hundred members each ask the store evenly, also after a start and a signal', async () => {
  const fleet = new Fleet();
  const until = 4 * WITHIN;
  await fleet.readFor(until);
  const mean = (fleet.checks.length * 1000) / until;
  expect(mean).toBeGreaterThan((0.95 * INSTANCES * 1000) / WITHIN);
  const peak = Fleet.peak(fleet.checks, 0, until);
  expect(peak / mean).toBeLessThan(2);

  const [first, ...others] = fleet.values as [RefreshingValue<number>, ...RefreshingValue<number>[]];
  fleet.reads.length = 0;
  await first.set(1);
  await fleet.readFor(WITHIN);
  await fleet.readFor(TICK);
  expect(others.every((value) => value.current === 1)).toBe(true);
  expect(fleet.reads.length).toBe(INSTANCES - 1);
  const spread = (INSTANCES * 1000) / WITHIN;
  expect(Fleet.peak(fleet.reads, until, until + WITHIN)).toBeLessThan(1.5 * spread);
  await fleet.readFor(2 * WITHIN);
  const end = until + TICK + 3 * WITHIN;
  const after = Fleet.peak(fleet.checks, until, end);
  expect(after / mean).toBeLessThan(2);
  console.log(
    `checks a second: mean ${mean.toFixed(0)}, peak after the start ${peak}, after a signal ${after}`,
  );
});
