import type { Effect } from '../../../../support/record-effects.ts';
import type { Backend } from '../../backend.ts';
import type { Message } from '../../message.ts';
import type { Process } from '../../process.ts';
import type { Referee } from '../../referee.ts';
import type { Timeline } from '../../timeline.ts';

/** An instance that checks the store at least that often, in milliseconds, while it is read; `Infinity`: it has rounds alone. */
type Member = Process & { readonly withinMs: number };

/** The world of the fleet. */
interface Judged<M extends Member> {
  readonly backend: Backend;
  readonly timeline: Timeline;
  readonly referee: Referee;
  readonly instances: readonly M[];
  isWellFor(instance: M, ms: number): boolean;
}

/** The last report of an instance that has arrived. */
interface Report<M> {
  readonly of: M;
  readonly at: number;
  /** It was taken back. */
  readonly isOver: boolean;
}

/** Virtual milliseconds between two looks at the fleet. */
const LOOKS_EVERY_MS = 1000;

/** A check with its ways, and the error of fast or slow clocks over the time of a report. */
const SLACK_MS = 40;

/**
 * The fleet of a store: an instance that was killed is in it until its last report is over, and no longer: 15 seconds, or three
 * times `propagateWithin`. One that is read, and can reach the store, is in it. One that has closed is not.
 */
export class Fleet<M extends Member> {
  readonly #world: Judged<M>;
  readonly #reports: Map<string, Report<M>> = new Map();
  readonly #ids: Map<M, string> = new Map();
  /** The first read of each instance, the one from which its report must be there, and the last one. */
  readonly #reads: Map<M, { readonly since: number; readonly from: number; readonly last: number }> =
    new Map();
  #looksAt = 0;

  constructor(world: Judged<M>) {
    this.#world = world;
  }

  arrived(of: M, { instance, report }: Message, { step }: Effect): void {
    if (instance === undefined || step !== 'report') return;
    this.#ids.set(of, instance);
    this.#reports.set(instance, { of, at: this.#world.timeline.now, isOver: report === '-' });
  }

  read(instance: M): void {
    const { now } = this.#world.timeline;
    const before = this.#reads.get(instance);
    const since = before?.since ?? now;
    // A store that came back empty has its report again when that is renewed.
    const ms = lastsOf(instance) / 3 + 2 * instance.withinMs;
    const isKnown = now - since > ms && this.#world.isWellFor(instance, ms);
    const from = isKnown ? Math.min(before?.from ?? now, now) : Number.POSITIVE_INFINITY;
    this.#reads.set(instance, { since, from, last: now });
  }

  stepped(): void {
    const { now } = this.#world.timeline;
    if (now < this.#looksAt) return;
    this.#looksAt = now + LOOKS_EVERY_MS;
    void this.#look(now);
  }

  async #look(now: number): Promise<void> {
    const { instances, backend } = this.#world;
    const expected = instances.filter((instance) => this.#mustBeThere(instance, now));
    const fleet = await backend.fleet(); // as it is at the next event
    const ids = new Set(fleet.instances.map(({ id }) => id));
    for (const id of ids) {
      const { of, at, isOver } = this.#reports.get(id) as Report<M>;
      const ago = now - at;
      this.#holds(!isOver || ago <= SLACK_MS, () => `${of.name} is in it, though its report was taken back`);
      this.#holds(ago <= lastsOf(of) + SLACK_MS, () => {
        const state = of.machine.hasCrashed ? ', and was killed' : '';
        return `${of.name} is in it, though it has left no report for ${ago.toFixed(0)} ms${state}`;
      });
    }
    for (const instance of expected) {
      const isThere = ids.has(this.#ids.get(instance) ?? '');
      this.#holds(isThere, () => `${instance.name} is not in it, and is read`);
    }
  }

  #mustBeThere(instance: M, now: number): boolean {
    const { from, last } = this.#reads.get(instance) ?? { from: Number.POSITIVE_INFINITY, last: 0 };
    const { closing, machine, withinMs } = instance;
    const lasts = lastsOf(instance);
    if (withinMs === Infinity || closing !== 'no' || machine.hasCrashed) return false;
    const isKnown = now >= from + SLACK_MS && last >= now - lasts / 2;
    return isKnown && this.#world.isWellFor(instance, lasts / 3 + 2 * withinMs);
  }

  #holds(condition: boolean, message: () => string): void {
    this.#world.referee.holds('everywhere', condition, () => `the fleet: ${message()}`);
  }
}

/** How long a report of it lasts, as the documentation says. */
function lastsOf({ withinMs }: Member): number {
  return Math.max(15_000, 3 * withinMs);
}
