import type { HintBus, Hints } from '../../../../src/cluster/hint-contract.ts';
import { createHints } from '../../../../src/hints/create-hints.ts';
import type { Random } from '../random.ts';
import type { DataInstance } from './instance.ts';
import type { DataWorld } from './world.ts';

/** From one forged message to another. */
const FORGED_EVERY_MS = 150;

/** The delay of a hint that is late. */
const LATE_MS = 5000;

/** Messages that no instance of the world has sent, or not now. */
const FORGED: readonly ((random: Random) => unknown)[] = [
  (random) => hint({ from: `x${random.whole(1, 1e9)}`, instances: random.pick([1, 10, 11, 1000, 1e300]) }),
  (random) => hint({ from: 'x', instances: random.pick([-1, 0, 'many', null]), further: 1 }),
  (random) => hint({ from: random.pick([1, null, {}]), tickless: random.pick(['hint/1', 'hint/2', 1]) }),
  () => hint({ from: 'x'.repeat(10_000) }),
  (random) => random.pick(['', 'null', '{', '[]', '"hint/1"', 'a message of others']),
  (random) => random.pick([undefined, null, 1, {}, new Uint8Array(3)]),
];

function hint(fields: object): string {
  return JSON.stringify({ tickless: 'hint/1', ...fields });
}

/** One listening of an instance. */
interface Listener {
  readonly instance: () => DataInstance;
  readonly receive: (text: string) => void;
  readonly end: () => void;
}

/**
 * What carries hints from one instance to the others: loses, delays and doubles them, refuses or never answers those who
 * send, ends listening, and brings messages that nobody has sent. Its random numbers are its own.
 */
export class HintNetwork {
  readonly #world: DataWorld;
  readonly #random: Random;
  readonly #listeners: Set<Listener> = new Set();
  /** The last hint that was sent, to be sent again by somebody else. */
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

  /** The hints of one instance, as it gives them to its store. @param instance the process, once it is made. */
  of(instance: () => DataInstance): Hints {
    const random = this.#random;
    const bus: HintBus = {
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
    return createHints(bus);
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
        () => `${from === undefined ? 'a forged hint' : 'a hint'}: ${String(text).slice(0, 80)}`,
      );
      try {
        listener.receive(text);
      } catch (error) {
        referee.holds(
          'hints',
          false,
          () => `${to.name}: ${String(text).slice(0, 80)} makes it throw ${error}`,
        );
      }
      if (from !== undefined && from !== to) for (const watch of watches) watch.hinted?.(to, text);
    });
  }
}
