import type { TicklessEvent } from '../../../../../src/index.ts';
import type { LeaseBook } from '../../lease-book.ts';
import type { Message } from '../../network.ts';
import type { Referee } from '../../referee.ts';
import type { Timeline } from '../../timeline.ts';
import type { DataRun, DataWatch, Holder, Order } from '../watch.ts';

/** The error of fast or slow clocks. */
const ROUNDING_MS = 3;

/** The world of the loads. */
interface Judged {
  readonly referee: Referee;
  readonly timeline: Timeline;
  readonly leases: LeaseBook;
}

/** A value was refused, and its round was released. */
interface Refused {
  readonly run: DataRun<Holder>;
  readonly at: number;
  /** The cool-down of its instance ends then, by the clock of the world. */
  readonly until: number;
  /** The number of leases that were granted before it was released. */
  readonly granted: number;
  isReleased: boolean;
}

/** Of a source with bad data all instances together load once in a cool-down. */
export class BadLoads implements DataWatch<Holder> {
  readonly #world: Judged;
  /** That of its rounds. */
  readonly #name: string;
  readonly #last: Map<Holder, DataRun<Holder>> = new Map();
  /** The calls of `refresh()` that wait: a due load that they join is forced. */
  readonly #forced: Set<Order<Holder>> = new Set();
  /** When each lease was first asked for. */
  readonly #askedAt: Map<string, number> = new Map();
  #isRejected: Holder | undefined;
  #refused: Refused | undefined;

  constructor(world: Judged, name: string = 'prices') {
    this.#world = world;
    this.#name = name;
  }

  ordered(order: Order<Holder>): void {
    if (order.kind === 'refresh') this.#forced.add(order);
  }

  settled(order: Order<Holder>): void {
    this.#forced.delete(order);
  }

  began(run: DataRun<Holder>): void {
    this.#last.set(run.instance, run);
    const { trigger, token, serial, instance } = run;
    if (token === undefined || (trigger !== 'due' && trigger !== 'first')) return;
    if ([...this.#forced].some((order) => order.instance === instance)) return;
    const { referee, timeline, leases } = this.#world;
    const refused = this.#refused;
    if (!refused?.isReleased || leases.grantedOf(this.#name) !== refused.granted + 1) return;
    if (leases.of(this.#name, refused.run.token as number)?.isForgotten) return;
    // Asked for before, and on its way until now.
    const { requestId = '' } = leases.of(this.#name, token) ?? {};
    if ((this.#askedAt.get(requestId) ?? 0) < refused.at) return;
    const early = refused.until - ROUNDING_MS - timeline.now;
    referee.holds(5, early <= 0, () => {
      return `${instance.name}: load ${serial} begins ${early.toFixed(1)} ms before the cool-down of ${refused.run.serial}, which was refused, is over`;
    });
  }

  sent(_instance: unknown, { step, requestId }: Message): void {
    if (step === 'acquire' && requestId !== undefined && !this.#askedAt.has(requestId))
      this.#askedAt.set(requestId, this.#world.timeline.now);
  }

  emitted(instance: Holder, event: TicklessEvent): void {
    if (event.type === 'value-rejected') this.#isRejected = instance;
    if (event.type !== 'cooling-down' || this.#isRejected !== instance) return;
    this.#isRejected = undefined;
    const run = this.#last.get(instance);
    if (run?.token === undefined) return;
    const { timeline, leases } = this.#world;
    const granted = leases.grantedOf(this.#name);
    const { now } = timeline;
    this.#refused = { run, at: now, until: now + event.delay, granted, isReleased: false };
  }

  arrived(_instance: unknown, { step, name, as, token }: Message, answer: unknown): void {
    if (name !== this.#name) return;
    const refused = this.#refused;
    if (step === 'release' && as === 'failed' && answer === true && token === refused?.run.token && refused)
      refused.isReleased = true;
  }
}
