import { CLIENT_TIMEOUT_MS, type Message } from '../../network.ts';
import type { DataInstance } from '../instance.ts';
import type { DataWatch } from '../watch.ts';
import type { DataWorld } from '../world.ts';

/** However many hints come, the checks that they lead to begin that far apart. */
const APART_MS = 20;

/** Timers may be early by the error of a clock. */
const SLACK_MS = 1;

/** Up to so many instances ask at once. */
const AT_ONCE = 10;

/**
 * Hints: the first read after one starts a check of the store, 20 ms after the one before at the earliest, where a value is in
 * place and nothing else is asked of the backend. Between two checks that are due anyway at most one comes within 20 ms. That changes
 * are known within `propagateWithin`, whatever becomes of hints, is rule 24: `marks`.
 */
export class HintedChecks implements DataWatch {
  readonly #world: DataWorld;
  /** The first hint since the last check, by the clock of the machine. */
  readonly #hintedAt: Map<DataInstance, number> = new Map();
  /** The hints that the present step must answer by a check. */
  readonly #expected: Set<DataInstance> = new Set();
  /** The last two checks. */
  readonly #checkedAt: Map<DataInstance, readonly [number, number]> = new Map();

  constructor(world: DataWorld) {
    this.#world = world;
  }

  hinted(instance: DataInstance, text: string): void {
    const { instances = Number.POSITIVE_INFINITY } = JSON.parse(text) as { instances?: number };
    if (instances > AT_ONCE || this.#hintedAt.has(instance)) return;
    this.#hintedAt.set(instance, instance.machine.monotonic());
  }

  sent(instance: DataInstance, { step, name }: Message): void {
    if (step !== 'versions') return;
    this.#hintedAt.delete(instance);
    this.#expected.delete(instance);
    if (name === '') return; // it has nothing to ask, and leaves a report
    const now = instance.machine.monotonic();
    const [last, before] = this.#checkedAt.get(instance) ?? [-Infinity, -Infinity];
    this.#checkedAt.set(instance, [now, last]);
    this.#world.referee.holds('hints', now - before >= APART_MS - SLACK_MS, () => {
      return `${instance.name}: three checks begin within ${(now - before).toFixed(1)} ms`;
    });
  }

  read(instance: DataInstance): void {
    const { machine, link, closing } = instance;
    const hintedAt = this.#hintedAt.get(instance);
    if (hintedAt === undefined || machine.monotonic() < hintedAt + APART_MS) return;
    const isFree = closing === 'no' && !link.isAwaited && instance.peek() !== undefined;
    if (isFree && this.#world.isWellFor(instance, 3 * CLIENT_TIMEOUT_MS)) this.#expected.add(instance);
  }

  stepped(instance: DataInstance): void {
    if (instance.held === undefined) this.#hintedAt.delete(instance); // a check has nothing to ask, and sends nothing
    // A store that has not been asked for a while answers one question first.
    if (instance.closing !== 'no') this.#expected.delete(instance);
    if (!this.#expected.has(instance) || instance.link.isAwaited) return;
    this.#world.referee.holds('hints', false, () => {
      return `${instance.name}: it is read after a hint, and does not check the store`;
    });
  }
}
