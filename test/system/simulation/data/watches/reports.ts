import type { Message } from '../../message.ts';
import type { DataInstance } from '../instance.ts';
import type { DataWatch } from '../watch.ts';
import type { DataWorld } from '../world.ts';

/** Two reports of an instance whose checks are rare are 5 s apart, by clocks that may be fast. */
const APART_MS = 3500;

/** It leaves one with its commands every 5 s, by clocks that may be slow. */
const EVERY_MS = 10_000;

/**
 * The fleet: a report claims no version that its instance does not hold, or is just writing. An instance whose checks are
 * rare leaves one with its first command, and then one every 5 s.
 */
export class Reports implements DataWatch {
  readonly #world: DataWorld;
  /** When each has sent them, beginning with the last one. */
  readonly #sentAt: Map<DataInstance, readonly number[]> = new Map();

  constructor(world: DataWorld) {
    this.#world = world;
  }

  sent(instance: DataInstance, { step, report, token = 0 }: Message): void {
    const { name, prices, withinMs, closing } = instance;
    const { timeline, referee } = this.#world;
    const { now } = timeline;
    const sentAt = this.#sentAt.get(instance) ?? [];
    const [last = Number.NEGATIVE_INFINITY, before] = sentAt;
    const isRare = withinMs === Infinity && closing === 'no';
    if (isRare && step === 'write') {
      const isThere = report !== undefined || now - last <= EVERY_MS;
      const ago = now - last;
      referee.holds('everywhere', isThere, () => `${name}: it writes, and has left no report for ${ago} ms`);
    }
    if (report === undefined || report === '-') return;
    // The first one is sent before it has anything to tell.
    const isOfRound = isRare && step !== 'versions'; // a signal has asked for that check
    const isApart = !isOfRound || before === undefined || now - last >= APART_MS;
    referee.holds(
      'everywhere',
      isApart,
      () => `${name}: it leaves a report ${now - last} ms after another one`,
    );
    // A write may follow a claim, and its report says more.
    if (step !== 'acquire') this.#sentAt.set(instance, [now, ...sentAt]);
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
