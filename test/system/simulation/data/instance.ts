import { type EventOf, type EventType, RefreshingValue, type ValueStatus } from '../../../../src/index.ts';
import type { Machine } from '../machine.ts';
import { Link } from '../network.ts';
import { NO_CHECKS_MS, Process } from '../process.ts';
import { wordsOf } from '../words.ts';
import { type Edition, schema } from './edition.ts';
import type { DataRun, Holder } from './watch.ts';
import type { DataWorld } from './world.ts';

/** One process of a service with a price list. */
export class DataInstance extends Process implements Holder {
  readonly prices: RefreshingValue<Edition>;
  readonly running: Set<DataRun> = new Set();
  /** The calls of readers and operators that wait. */
  waiting: number = 0;
  /** The value after the present step. */
  held: Edition | undefined;
  /** The status after the present step. */
  status: ValueStatus<Edition> | undefined;
  /** Its value was last invalidated here only. */
  invalidatedAt: number = Number.NEGATIVE_INFINITY;
  /** Its checks of the store come at least that often, in milliseconds; `Infinity`: it has none. */
  readonly withinMs: number;
  /** The values that people have put into place here. */
  readonly own: Set<number> = new Set();

  constructor(name: string, machine: Machine, world: DataWorld) {
    const { scenario, timeline, random, backend, source } = world;
    const wire = world.wireOf(name, () => this);
    const { leaseFor, keepVersions } = scenario;
    const link = new Link(machine, backend, timeline, random, wire, leaseFor, {
      keepVersions,
      signals: world.signals?.of(() => this),
    });
    super(name, machine, link, world);
    const { lock, store } = link;
    this.withinMs = world.marks.drawWithin(world.markRandom);
    const { period, timeout, coolDown, maxStaleness, whenTooStale, whenBackendDown } = scenario;
    this.prices = new RefreshingValue<Edition>({
      name: 'prices',
      load: (context) => source.load(this, context),
      schedule: period,
      timeout,
      coolDown,
      retry: false,
      clock: machine,
      random: () => random.next(),
      logger: false,
      ...(scenario.hasStore ? { backend: { lock, store } } : scenario.hasLock ? { lock } : {}),
      ...(scenario.hasLock ? { whenBackendDown } : {}),
      ...(scenario.hasStore ? { propagateWithin: Math.min(this.withinMs, NO_CHECKS_MS) } : {}),
      ...(scenario.hasSchema ? { schema } : {}),
      ...(scenario.hasAccept ? { accept: (candidate, about) => source.judge(this, candidate, about) } : {}),
      ...(maxStaleness === Infinity ? {} : { maxStaleness, whenTooStale }),
    });
    this.prices.on('*', (event) => this.#emitted(world, event));
  }

  peek(): Edition | undefined {
    return this.prices.peek();
  }

  /** A value that a person has put into place here is served. */
  get servesOwn(): boolean {
    return this.held !== undefined && this.own.has(this.held.serial);
  }

  override get isLoading(): boolean {
    return this.running.size > 0;
  }

  protected override closeAll(timeout: number): Promise<unknown> {
    return this.prices.close({ timeout });
  }

  #emitted(world: DataWorld, event: EventOf<EventType>): void {
    world.trace.add(this.name, () => wordsOf(event));
    for (const watch of world.watches) watch.emitted?.(this, event);
  }
}
