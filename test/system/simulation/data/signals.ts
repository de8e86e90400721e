import type { SignalBus, Signals } from '../../../../src/cluster/signal-contract.ts';
import { createSignals } from '../../../../src/signals/create-signals.ts';
import type { Random } from '../random.ts';
import type { DataInstance } from './instance.ts';
import type { DataWorld } from './world.ts';

/** From one forged message to another. */
const FORGED_EVERY_MS = 150;

/** The delay of a signal that is late. */
const LATE_MS = 5000;

/** Messages that no instance of the world has sent, or not now. */
const FORGED: readonly ((random: Random) => unknown)[] = [
  (random) => signal({ from: `x${random.whole(1, 1e9)}`, instances: random.pick([1, 10, 11, 1000, 1e300]) }),
  (random) => signal({ from: 'x', instances: random.pick([-1, 0, 'many', null]), further: 1 }),
  (random) =>
    signal({ from: random.pick([1, null, {}]), tickless: random.pick(['signal/1', 'signal/2', 1]) }),
  () => signal({ from: 'x'.repeat(10_000) }),
  (random) => random.pick(['', 'null', '{', '[]', '"signal/1"', 'a message of others']),
  (random) => random.pick([undefined, null, 1, {}, new Uint8Array(3)]),
];

function signal(fields: object): string {
  return JSON.stringify({ tickless: 'signal/1', ...fields });
}

/** One listening of an instance. */
interface Listener {
  readonly instance: () => DataInstance;
  readonly receive: (text: string) => void;
  readonly end: () => void;
}

/**
 * What carries signals from one instance to the others: loses, delays and doubles them, refuses or never answers those who
 * send, ends listening, and brings messages that nobody has sent. Its random numbers are its own.
 */
export class SignalNetwork {
  readonly #world: DataWorld;
  readonly #random: Random;
  readonly #listeners: Set<Listener> = new Set();
  /** The last signal that was sent, to be sent again by somebody else. */
  #last: string | undefined;
  #isOver = false;

  constructor(world: DataWorld, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  begin(): void {
    const { timeline } = this.#world;
    const again = (): void => {
      if (this.#isOver) return;
      this.#forge();
      timeline.plan(this.#random.untilNext(FORGED_EVERY_MS), again);
    };
    timeline.plan(this.#random.untilNext(FORGED_EVERY_MS), again);
  }

  end(): void {
    this.#isOver = true;
  }

  /** The signals of one instance, as it gives them to its store. @param instance the process, once it is made. */
  of(instance: () => DataInstance): Signals {
    const random = this.#random;
    const bus: SignalBus = {
      send: async (text) => {
        if (!this.#isOver && random.chance(0.1)) throw new Error('the bus is down');
        this.#last = text;
        for (const listener of this.#listeners) this.#carry(listener, text, instance());
        if (!this.#isOver && random.chance(0.05)) await new Promise(() => {});
      },
      listen: async (receive, end) => {
        if (!this.#isOver && random.chance(0.2)) throw new Error('the bus refuses');
        const listener = { instance, receive, end };
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
    };
    return createSignals(bus);
  }

  #carry(listener: Listener, text: string, from: DataInstance): void {
    const random = this.#random;
    if (!this.#isOver && random.chance(0.2)) return;
    for (let copies = random.chance(0.2) ? 2 : 1; copies > 0; copies--) {
      const delay = random.chance(0.2) ? random.between(0, LATE_MS) : random.between(0.1, 3);
      this.#deliver(listener, text, delay, from);
    }
  }

  #forge(): void {
    const random = this.#random;
    const listener = random.pick([undefined, ...this.#listeners]);
    if (listener === undefined) return;
    if (random.chance(0.03)) {
      this.#listeners.delete(listener);
      listener.end();
      return;
    }
    const text = random.chance(0.2) ? this.#last : random.pick(FORGED)(random);
    // A storm now and then.
    for (let left = random.chance(0.1) ? 50 : 1; left > 0; left--) {
      this.#deliver(listener, text as string, random.between(0, 100));
    }
  }

  /** @param from who has sent it; not present: nobody that listeners know. */
  #deliver(listener: Listener, text: string, delay: number, from?: DataInstance): void {
    const to = listener.instance();
    const { referee, trace, watches } = this.#world;
    to.machine.receive(delay, () => {
      if (!this.#listeners.has(listener)) return;
      trace.add(
        to.name,
        () => `${from === undefined ? 'a forged signal' : 'a signal'}: ${String(text).slice(0, 80)}`,
      );
      try {
        listener.receive(text);
      } catch (error) {
        referee.holds(
          'signals',
          false,
          () => `${to.name}: ${String(text).slice(0, 80)} makes it throw ${error}`,
        );
      }
      if (from !== undefined && from !== to) for (const watch of watches) watch.signalled?.(to, text);
    });
  }
}
