import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { LockProvider } from '../../src/cluster/lock-contract.ts';
import { type LoadContext, RefreshingValue } from '../../src/index.ts';
import { type Fault, Link, MachineClock, ManualCluster, type Step } from '../support/cluster.ts';
import { onEnded, onRound } from '../support/events.ts';
import { settled } from '../support/settle.ts';
import { doing } from './commands.ts';

const INSTANCES = 3;
const PERIOD_MS = 1000;

/** The value of a load: the token of its lease; `NaN`: none. */
interface Loaded {
  readonly token: number;
}

interface Live {
  readonly token: number;
  readonly signal: AbortSignal;
  resolve(loaded: Loaded): void;
  reject(error: unknown): void;
}

type Command =
  | {
      readonly do: 'read' | 'refresh' | 'invalidate' | 'set' | 'kill' | 'stall' | 'end' | 'fail';
      readonly at: number;
    }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'break'; readonly at: number; readonly step: Step; readonly fault: Fault }
  | { readonly do: 'mend' };

const at = fc.nat({ max: INSTANCES - 1 });
const step = fc.constantFrom<Step[]>('acquire', 'extend', 'release', 'read', 'write');
const fault = fc.constantFrom<Fault[]>('refused', 'answer-lost');
const of = doing<Command>;
const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    of(8, ['read'], { at }),
    of(6, ['end'], { at }),
    of(3, ['refresh', 'invalidate', 'set', 'fail'], { at }),
    of(2, ['kill', 'stall'], { at }),
    of(6, ['advance'], { ms: fc.constantFrom(10, 100, 300, 1030, 3100) }),
    of(2, ['break'], { at, step, fault }),
    of(1, ['mend']),
  ),
  { maxLength: 60 },
);

/** Instances that share a lock which records the leases that it grants. */
class Simulation {
  readonly cluster: ManualCluster = new ManualCluster();
  /** In the order in which they were granted. */
  readonly tokens: number[] = [];
  readonly broken: string[] = [];
  readonly instances: ReturnType<Simulation['start']>[] = [];
  readonly #granted: Set<string> = new Set();
  readonly #lock: LockProvider;

  constructor() {
    const { lock } = this.cluster;
    const recordLeases = async (request: Parameters<LockProvider['acquire']>[0]) => {
      const answer = await lock.acquire(request);
      if (answer.kind === 'acquired' && !this.#granted.has(`${answer.lease.token}`)) {
        this.#granted.add(`${answer.lease.token}`);
        this.tokens.push(answer.lease.token);
      }
      return answer;
    };
    this.#lock = {
      leaseFor: lock.leaseFor,
      acquire: recordLeases,
      extend: (...asked) => lock.extend(...asked),
      release: (...asked) => lock.release(...asked),
      inspect: (name) => lock.inspect(name),
      list: (options) => lock.list(options),
      forceRelease: (...asked) => lock.forceRelease(...asked),
    };
    for (let index = 0; index < INSTANCES; index++) this.instances.push(this.start());
  }

  start() {
    const link = new Link(this.#lock, this.cluster.store);
    const clock = new MachineClock(this.cluster.clock);
    const live: Live[] = [];
    const value: RefreshingValue<Loaded> = new RefreshingValue<Loaded>({
      retry: false,
      name: 'v',
      load: ({ token = Number.NaN, signal }: LoadContext) =>
        new Promise((resolve, reject) => void live.push({ token, signal, resolve, reject })),
      schedule: PERIOD_MS,
      timeout: 10_000,
      coolDown: { initial: 200, max: 800 },
      backend: { lock: link.lock, store: link.store },
      clock,
      logger: false,
    });
    const lost = new Set<number>();
    onRound(value, 'lost', ({ token = 0 }) => void lost.add(token));
    onRound(value, 'published', ({ version = 0 }) => {
      if (lost.has(version)) this.broken.push(`published ${version}, whose lease was lost`);
    });
    return { link, clock, live, value, seen: { version: 0, token: 0 } };
  }

  kill(index: number): void {
    const { clock, link } = this.instances[index] as Simulation['instances'][0];
    clock.stop();
    link.break('refused', 'acquire', 'extend', 'release', 'read', 'write');
    this.instances[index] = this.start();
  }

  async carryOut(command: Command): Promise<void> {
    const instance = 'at' in command ? this.instances[command.at] : undefined;
    switch (command.do) {
      case 'read': {
        const { value } = instance!;
        const isWarm = value.peek() !== undefined;
        const read = value.get();
        read.catch(() => {});
        if (isWarm) expect(await settled(read)).toHaveProperty('value');
        break;
      }
      case 'refresh':
        instance!.value.refresh().catch(() => {});
        break;
      case 'invalidate':
        instance!.value.invalidate();
        break;
      case 'set':
        instance!.value.set({ token: Number.NaN });
        break;
      case 'end':
      case 'fail': {
        const load = instance!.live.shift();
        if (command.do === 'end') load?.resolve({ token: load.token });
        else load?.reject(new Error('down'));
        break;
      }
      case 'kill':
        this.kill(command.at);
        break;
      case 'stall':
        instance!.link.break('refused', 'extend');
        await this.cluster.clock.advance(3100); // its lease is lost
        instance!.link.mend();
        break;
      case 'break':
        instance!.link.break(command.fault, command.step);
        break;
      case 'mend':
        for (const { link } of this.instances) link.mend();
        break;
      case 'advance':
        await this.cluster.clock.advance(command.ms);
    }
    await this.cluster.clock.flush();
  }

  check(): void {
    expect(this.broken).toEqual([]);
    expect(this.tokens).toEqual([...new Set(this.tokens)].sort((a, b) => a - b));
    // At most one of the loads under a lease is not aborted.
    const running = this.instances.flatMap(({ live }) =>
      live.filter(({ token, signal }) => !Number.isNaN(token) && !signal.aborted),
    );
    expect(running.length).toBeLessThanOrEqual(1);
    for (const { value, seen } of this.instances) {
      const { version = seen.version } = value.inspect().lock ?? {};
      expect(version).toBeGreaterThanOrEqual(seen.version);
      seen.version = version;
      const token = value.peek()?.token ?? Number.NaN;
      if (Number.isNaN(token)) continue;
      expect(token).toBeGreaterThanOrEqual(seen.token);
      seen.token = token;
    }
  }
}

it('the rules hold after each of any commands to any instances in any order', async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (all) => {
      const simulation = new Simulation();
      const { clock } = simulation.cluster;
      for (const command of all) {
        await simulation.carryOut(command);
        simulation.check();
      }
      // After the faults all instances come to rest with a value.
      await simulation.carryOut({ do: 'mend' });
      const endAll = async (): Promise<void> => {
        for (let round = 0; round < 4; round++) {
          for (const { live } of simulation.instances) {
            for (const load of live.splice(0)) load.resolve({ token: load.token });
          }
          await clock.advance(4000);
          simulation.check();
        }
      };
      await endAll();
      for (const { value } of simulation.instances) value.get().catch(() => {});
      await endAll();
      for (const { value } of simulation.instances) {
        expect(value.inspect().running).toBe(false);
        expect(value.peek()).toBeDefined();
      }
      expect(clock.timerCount).toBe(0);
    }),
    { numRuns: 300 },
  );
}, 60_000);

it('without faults one load is completed per round, whichever instances read when', async () => {
  const advance = of(4, ['advance'], { ms: fc.constantFrom(10, 100, 300, 1030) });
  const calm = fc.array(fc.oneof(of(5, ['read'], { at }), of(2, ['end'], { at }), advance), {
    maxLength: 80,
  });
  await fc.assert(
    fc.asyncProperty(calm, async (all) => {
      const simulation = new Simulation();
      const completed: number[] = [];
      for (const { value } of simulation.instances) {
        onEnded(value, 'loaded', () => void completed.push(simulation.cluster.clock.monotonic()));
      }
      for (const command of all) {
        await simulation.carryOut(command);
        simulation.check();
      }
      for (const [index, instant] of completed.entries()) {
        if (index > 0) expect(instant - (completed[index - 1] as number)).toBeGreaterThanOrEqual(PERIOD_MS);
      }
    }),
    { numRuns: 300 },
  );
}, 60_000);
