import type { TicklessEvent } from '../../../../../src/index.ts';
import type { Effect } from '../../../../support/record-effects.ts';
import type { LeaseBook } from '../../lease-book.ts';
import type { Message, StepAnswer } from '../../message.ts';
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

/**
 * Of a source with bad data all instances together load once in a cool-down. It counts from when an instance first asked the
 * lock: where it found the round done, without a result that it may use, it asks once more and ignores all holds, also that of
 * a load which was refused between the two commands. So it does where the lease is over before the answer to that is here. A lease
 * that was asked for by force, and whose answer was lost, is that of its next load.
 */
export class BadLoads implements DataWatch<Holder> {
  readonly #world: Judged;
  /** That of its rounds. */
  readonly #name: string;
  readonly #last: Map<Holder, DataRun<Holder>> = new Map();
  /** The calls of `refresh()` that wait: a due load that they join is forced. */
  readonly #forced: Set<Order<Holder>> = new Set();
  readonly #askedByForce: Set<string> = new Set();
  /** When each lease was first asked for. */
  readonly #askedAt: Map<string, number> = new Map();
  /** When each instance asked that has found the round done, until it loads. */
  readonly #foundDoneAt: Map<unknown, number> = new Map();
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
    this.#foundDoneAt.delete(run.instance);
    const { trigger, token, serial, instance } = run;
    if (token === undefined || (trigger !== 'due' && trigger !== 'first')) return;
    if ([...this.#forced].some((order) => order.instance === instance)) return;
    const { referee, timeline, leases } = this.#world;
    const refused = this.#refused;
    if (!refused?.isReleased || leases.grantedOf(this.#name) !== refused.granted + 1) return;
    if (leases.of(this.#name, refused.run.token as number)?.isForgotten) return;
    // Asked for before, and on its way until now.
    const { requestId = '' } = leases.of(this.#name, token) ?? {};
    if ((this.#askedAt.get(requestId) ?? 0) < refused.at || this.#askedByForce.has(requestId)) return;
    const early = refused.until - ROUNDING_MS - timeline.now;
    referee.holds(5, early <= 0, () => {
      return `${instance.name}: load ${serial} begins ${early.toFixed(1)} ms before the cool-down of ${refused.run.serial}, which was refused, is over`;
    });
  }

  sent(instance: unknown, { step, name, requestId, force }: Message): void {
    if (step !== 'acquire' || requestId === undefined || this.#askedAt.has(requestId)) return;
    if (force) this.#askedByForce.add(requestId);
    const firstAt = name === this.#name && force ? this.#foundDoneAt.get(instance) : undefined;
    this.#askedAt.set(requestId, firstAt ?? this.#world.timeline.now);
    if (name === this.#name && !force) this.#foundDoneAt.delete(instance);
  }

  emitted(instance: Holder, event: TicklessEvent): void {
    if (event.type !== 'load-ended' || event.outcome !== 'refused' || event.retryAt === undefined) return;
    const run = this.#last.get(instance);
    if (run?.token === undefined) return;
    const { timeline, leases } = this.#world;
    const granted = leases.grantedOf(this.#name);
    const { now } = timeline;
    this.#refused = { run, at: now, until: now + event.retryAt - event.at, granted, isReleased: false };
  }

  answered(instance: unknown, { step, name, requestId = '' }: Message, answer: StepAnswer | undefined): void {
    if (name !== this.#name || step !== 'acquire') return;
    if ((answer as { readonly state?: string }).state === 'done')
      this.#foundDoneAt.set(instance, this.#askedAt.get(requestId) ?? 0);
  }

  arrived(_instance: unknown, { name, as, token }: Message, { step }: Effect): void {
    const refused = this.#refused;
    if (name !== this.#name || step !== 'release' || as !== 'failed') return;
    if (token === refused?.run.token && refused) refused.isReleased = true;
  }
}
