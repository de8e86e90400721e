import type { Message } from '../../message.ts';
import { CLIENT_TIMEOUT_MS } from '../../network.ts';
import type { DataInstance } from '../instance.ts';
import type { DataWatch } from '../watch.ts';
import type { DataWorld } from '../world.ts';

/** However many signals come, the checks that they lead to begin that far apart. */
const APART_MS = 20;

/** Timers may be early by the error of a clock. */
const SLACK_MS = 1;

/** Up to so many instances ask at once. */
const AT_ONCE = 10;

/**
 * Signals: the first read after one starts a check of the store, 20 ms after the one before at the earliest, where a value is in
 * place and nothing else is asked of the backend. Between two checks that are due anyway at most one comes within 20 ms. That changes
 * are known within `propagateWithin`, whatever becomes of signals, is rule 24: `marks`.
 */
export class SignalledChecks implements DataWatch {
  readonly #world: DataWorld;
  /** The first signal since the last check, by the clock of the machine. */
  readonly #signalledAt: Map<DataInstance, number> = new Map();
  /** The signals that the present step must answer by a check. */
  readonly #expected: Set<DataInstance> = new Set();
  /** The last two checks. */
  readonly #checkedAt: Map<DataInstance, readonly [number, number]> = new Map();

  constructor(world: DataWorld) {
    this.#world = world;
  }

  signalled(instance: DataInstance, text: string): void {
    const { instances = Number.POSITIVE_INFINITY } = JSON.parse(text) as { instances?: number };
    if (instances > AT_ONCE || this.#signalledAt.has(instance)) return;
    this.#signalledAt.set(instance, instance.machine.monotonic());
  }

  sent(instance: DataInstance, { step, name }: Message): void {
    if (step !== 'versions') return;
    this.#signalledAt.delete(instance);
    this.#expected.delete(instance);
    if (name === '') return; // it has nothing to ask, and leaves a report
    const now = instance.machine.monotonic();
    const [last, before] = this.#checkedAt.get(instance) ?? [-Infinity, -Infinity];
    this.#checkedAt.set(instance, [now, last]);
    this.#world.referee.holds('signals', now - before >= APART_MS - SLACK_MS, () => {
      return `${instance.name}: three checks begin within ${(now - before).toFixed(1)} ms`;
    });
  }

  read(instance: DataInstance): void {
    const { machine, link, closing } = instance;
    const signalledAt = this.#signalledAt.get(instance);
    if (signalledAt === undefined || machine.monotonic() < signalledAt + APART_MS) return;
    const isFree = closing === 'no' && !link.isAwaited && instance.peek() !== undefined;
    if (isFree && this.#world.isWellFor(instance, 3 * CLIENT_TIMEOUT_MS)) this.#expected.add(instance);
  }

  stepped(instance: DataInstance): void {
    if (instance.held === undefined) this.#signalledAt.delete(instance); // a check has nothing to ask, and sends nothing
    // A store that has not been asked for a while answers one question first.
    if (instance.closing !== 'no') this.#expected.delete(instance);
    if (!this.#expected.has(instance) || instance.link.isAwaited) return;
    this.#world.referee.holds('signals', false, () => {
      return `${instance.name}: it is read after a signal, and does not check the store`;
    });
  }
}
