import { OptionChecks, ownOptions } from '../../option-checks.ts';
import type { BackendOptions } from '../../records/backend-options.ts';
import { MemoryCells } from '../../records/cells/memory-cells.ts';
import type { DurationLike } from '../../time/duration.ts';
import { FakeClock, type FakeClockOptions } from '../fake-clock.ts';
import { type RunOptions, type RunResult, runReads } from './run-reads.ts';
import { seededRandom } from './seeded-random.ts';
import { virtualBackend } from './virtual-adapters.ts';
import { VirtualBackend } from './virtual-backend.ts';
import { VirtualInstance, type VirtualProcess } from './virtual-instance.ts';
import { VirtualSource } from './virtual-source.ts';

/** The options of {@link virtualCluster}. */
export interface VirtualClusterOptions<S, T, A extends unknown[] = [], N extends number = number> {
  /** How many instances there are. A whole number from 1 to 1,000. */
  readonly instances: N;
  /** The data: called for each call of the source that is answered. It may throw, or return a promise. */
  readonly source: (...args: A) => T | Promise<T>;
  /** Makes the service of one instance, also after a restart: its values, caches, groups, or your own object around them. */
  readonly service: (process: VirtualProcess<T, A>) => S;
  /** The options of each instance's backend. @default those of a backend: a lease of 30 seconds, JSON, one version, a time-out of 1 second */
  readonly backend?: Omit<BackendOptions, 'signals'> | undefined;
  /** Start of all wall clocks, as of `FakeClock`. @default 2026-01-01T00:00:00Z */
  readonly now?: FakeClockOptions['now'];
  /** Decides jitter (`random`) and the order of the instances in `run`. The same seed gives the same run. A whole number. @default 1 */
  readonly seed?: number | undefined;
}

/** One of each instance; a tuple where the number is known and not over 32. */
export type VirtualInstances<
  S,
  N extends number,
  Found extends readonly VirtualInstance<S>[] = readonly [],
> = number extends N
  ? readonly VirtualInstance<S>[]
  : Found['length'] extends N
    ? Found
    : Found['length'] extends 32
      ? readonly VirtualInstance<S>[]
      : VirtualInstances<S, N, readonly [...Found, VirtualInstance<S>]>;

const NAMES = ['instances', 'source', 'service', 'backend', 'now', 'seed'];
const MOST_INSTANCES = 1000;

/**
 * A cluster of instances of your service in one process and in virtual time, with faults that a test switches on and off.
 * There are no servers, no real time and no sockets: an hour takes milliseconds, and the same seed gives the same run.
 *
 * ```ts
 * import { RefreshingValue } from 'tickless';
 * import { virtualCluster } from 'tickless/testing';
 *
 * const cluster = virtualCluster({
 *   instances: 3,
 *   source: () => ({ USD: 1.08 }),
 *   service: ({ source, clock, backend, random }) =>
 *     new RefreshingValue({ name: 'rates', load: () => source(), schedule: { minutes: 5 }, clock, backend, random }),
 * });
 * await cluster.run({ hours: 1 }, { every: { seconds: 30 }, read: (rates) => rates.get() });
 * console.log(cluster.source.calls.length); // 13
 * ```
 *
 * Give `clock`, `backend` and `random` to all members of the service. A member without them runs in real time, or by
 * itself. Nothing needs to be closed at the end of a test.
 *
 * @throws {TicklessError} `OPTION` when an option breaks a rule, and whatever `service` throws.
 */
export function virtualCluster<S, T, A extends unknown[] = [], const N extends number = number>(
  options: VirtualClusterOptions<S, T, A, N>,
): VirtualCluster<S, T, A, N> {
  return new VirtualCluster(options);
}

/** The cluster of {@link virtualCluster}. */
export class VirtualCluster<S, T, A extends unknown[] = [], N extends number = number> {
  /** The time of all instances. `advance` and `flush` are those of the cluster too. */
  readonly clock: FakeClock;
  readonly instances: VirtualInstances<S, N>;
  /** The source of all instances: `down()`, `slow(duration)`, `silent()`, `wrong(value)`, `up()`. */
  readonly source: VirtualSource<T, A>;
  /** The backend of all instances: `down()`, `slow(duration)`, `silent()`, `empty()`, `up()`. */
  readonly backend: VirtualBackend<unknown>;
  readonly #random: () => number;

  /** @internal Use {@link virtualCluster}. */
  constructor(options: VirtualClusterOptions<S, T, A, N>) {
    const checks = new OptionChecks('virtualCluster');
    const {
      instances,
      source,
      service,
      backend: backendOptions = {},
      seed = 1,
    } = ownOptions(options ?? {}) as VirtualClusterOptions<S, T, A, N>;
    checks.names('', options ?? {}, NAMES);
    checks.count('instances', instances, MOST_INSTANCES);
    checks.function('source', source);
    checks.function('service', service);
    checks.that(Number.isSafeInteger(seed), 'seed', 'must be a whole number', seed);
    checks.done();
    const clock = new FakeClock({ now: options.now });
    this.clock = clock;
    this.#random = seededRandom(seed);
    this.source = new VirtualSource(source, 'source', clock);
    const backend = new VirtualBackend('backend', clock, () => new MemoryCells(() => clock.now()));
    this.backend = backend;
    const names = Array.from({ length: instances }, (_, index) => `instance-${index + 1}`);
    const made: readonly VirtualInstance<S>[] = names.map((one) => {
      // Numbers of its own, so that the run of the others does not depend on how many of them it takes.
      const random = seededRandom(this.#random() * 2 ** 32);
      return new VirtualInstance(one, clock, (name, machine) =>
        service({
          name,
          clock: machine,
          random,
          source: this.source.for(name, machine),
          backend: virtualBackend(name, machine, backend, backendOptions),
        }),
      );
    });
    this.instances = made as VirtualInstances<S, N>;
  }

  /**
   * Moves the time of all instances forward, as {@link FakeClock.advance}. Members of tickless reload when they are read:
   * see {@link run} for time with reads.
   *
   * @throws {TicklessError} `OPTION` when the duration is invalid, negative or infinite.
   */
  async advance(duration: DurationLike): Promise<void> {
    await this.clock.advance(duration);
  }

  /** Runs everything that needs no time. */
  async flush(): Promise<void> {
    await this.clock.flush();
  }

  /**
   * Moves the time forward while each running instance is read: at the beginning, then at each `every`, in an order from the
   * seed. A read is not awaited before time goes on; killed and stopped instances are not read.
   *
   * Rejects with an `Error` that names the instance and the time when a read throws or rejects, with the error as its
   * `cause`; time has moved to the end of that step by then. So `read` is the place for an assertion on what is served.
   *
   * @throws {TicklessError} `OPTION` when an option breaks a rule.
   */
  async run(duration: DurationLike, options: RunOptions<S>): Promise<RunResult> {
    return runReads(
      this.clock,
      this.instances as readonly VirtualInstance<S>[],
      this.#random,
      duration,
      options,
    );
  }
}
