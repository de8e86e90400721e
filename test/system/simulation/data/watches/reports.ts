import type { Message } from '../../network.ts';
import { serialIn } from '../edition.ts';
import type { DataInstance } from '../instance.ts';
import type { DataWatch } from '../watch.ts';
import type { DataWorld } from '../world.ts';

/** In the long run rounds leave a report a second, by clocks that may be slow. */
const EVERY_MS = 2000;

/** In the first line of a snapshot. */
const AS_DUE = '"dueIn":0,"isDueSaid":true';

/** A report that says the same as the one before is renewed by a round after 5 s, by clocks that may be slow. */
const RENEWED_MS = 10_000;

/**
 * The fleet: a report claims no version that its instance does not hold, or is just writing. An instance without
 * `propagateWithin` leaves one with each write of the value that it holds, unless it has sent one lately. A write of a mark, of
 * a value that another one has replaced here meanwhile, or of one as due, whose pin is over, changes nothing that a report says:
 * the last one is renewed in time.
 */
export class Reports implements DataWatch {
  readonly #world: DataWorld;
  /** When each has last sent one. */
  readonly #sentAt: Map<DataInstance, number> = new Map();

  constructor(world: DataWorld) {
    this.#world = world;
  }

  sent(instance: DataInstance, { step, report, token = 0, payload = '' }: Message): void {
    const { name, prices, withinMs, closing } = instance;
    const { timeline, referee } = this.#world;
    if (step === 'write' && withinMs === Infinity && closing === 'no') {
      const ago = timeline.now - (this.#sentAt.get(instance) ?? Number.NEGATIVE_INFINITY);
      const isHeld = prices.peek()?.serial === serialIn(payload) && !payload.includes(AS_DUE);
      const isThere = report !== undefined || ago <= (isHeld ? EVERY_MS : RENEWED_MS);
      referee.holds('everywhere', isThere, () => `${name}: it writes, and has left no report for ${ago} ms`);
    }
    if (report === undefined || report === '-') return;
    this.#sentAt.set(instance, timeline.now);
    const { members } = JSON.parse(report) as {
      readonly members: readonly { readonly name: string; readonly version?: number }[];
    };
    const reported = members.find((member) => member.name === 'prices')?.version;
    const held = prices.inspect().lock?.version;
    referee.holds(
      'everywhere',
      reported === undefined || held === undefined || reported <= Math.max(held, token),
      () => `${name}: it reports version ${reported}, and holds ${held}`,
    );
  }
}
