import type { TicklessEvent } from '../../../../../src/index.ts';
import type { Message } from '../../network.ts';
import type { DataInstance } from '../instance.ts';
import type { DataRun, DataWatch, Order } from '../watch.ts';
import type { DataWorld } from '../world.ts';

/** The error of fast or slow clocks. */
const ROUNDING_MS = 3;

/** A value was refused, and its round was released. */
interface Refused {
  readonly run: DataRun;
  /** The cool-down of its instance ends then, by the clock of the world. */
  readonly until: number;
  /** The number of leases that were granted before it was released. */
  readonly granted: number;
  isReleased: boolean;
}

/** Of a source with bad data all instances together load once in a cool-down. */
export class BadLoads implements DataWatch {
  readonly #world: DataWorld;
  readonly #last: Map<DataInstance, DataRun> = new Map();
  /** The calls of `refresh()` that wait: a due load that they join is forced. */
  readonly #forced: Set<Order> = new Set();
  #isRejected: DataInstance | undefined;
  #refused: Refused | undefined;

  constructor(world: DataWorld) {
    this.#world = world;
  }

  ordered(order: Order): void {
    if (order.kind === 'refresh') this.#forced.add(order);
  }

  settled(order: Order): void {
    this.#forced.delete(order);
  }

  began(run: DataRun): void {
    this.#last.set(run.instance, run);
    const { trigger, token, serial, instance } = run;
    if (token === undefined || (trigger !== 'due' && trigger !== 'first')) return;
    if ([...this.#forced].some((order) => order.instance === instance)) return;
    const { referee, timeline, leases } = this.#world;
    const refused = this.#refused;
    if (!refused?.isReleased || leases.grantedOf('prices') !== refused.granted + 1) return;
    if (leases.of('prices', refused.run.token as number)?.isForgotten) return;
    const early = refused.until - ROUNDING_MS - timeline.now;
    referee.holds(5, early <= 0, () => {
      return `${instance.name}: load ${serial} begins ${early.toFixed(1)} ms before the cool-down of ${refused.run.serial}, which was refused, is over`;
    });
  }

  emitted(instance: DataInstance, event: TicklessEvent): void {
    if (event.type === 'value-rejected') this.#isRejected = instance;
    if (event.type !== 'cooling-down' || this.#isRejected !== instance) return;
    this.#isRejected = undefined;
    const run = this.#last.get(instance);
    if (run?.token === undefined) return;
    const { timeline, leases } = this.#world;
    const granted = leases.grantedOf('prices');
    this.#refused = { run, until: timeline.now + event.delay, granted, isReleased: false };
  }

  arrived(_instance: DataInstance, { step, as, token }: Message, answer: unknown): void {
    const refused = this.#refused;
    if (step === 'release' && as === 'failed' && answer === true && token === refused?.run.token && refused)
      refused.isReleased = true;
  }
}
