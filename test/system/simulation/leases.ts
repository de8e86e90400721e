import type { Instance } from './instance.ts';
import { isWrite, type Message } from './message.ts';
import type { World } from './world.ts';

/** The error of fast or slow clocks over the length of a lease, and late timers. */
const LATE_MS = 12;

/** Begins the names of the runs of tasks, which are kept where snapshots are. */
const RUNS = 'runs/';

/**
 * Rule 11: a load whose lease is lost is aborted, and its result is not published. Rule 15: the lease is not used
 * otherwise either. Rule 16: a task with `skip` does not run without its lock. Judged by the state of the backend.
 */
export class Leases {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  stepped(): void {
    for (const { machine, subjects } of this.#world.instances) {
      if (!machine.isAwake) continue;
      for (const subject of subjects.values()) {
        for (const { token, signal, serial, isBatched } of subject.running) {
          if (token === undefined || isBatched || signal.aborted) continue;
          this.#world.referee.holds(11, this.#isHeld(subject.options.lockName ?? '', token), () => {
            return `${subject.id}: load ${serial} goes on although the lease of token ${token} is over`;
          });
        }
      }
    }
  }

  sent(instance: Instance, message: Message): void {
    const { step, name, token } = message;
    if (step === 'acquire' || step === 'read' || step === 'versions') return;
    if (name.startsWith(RUNS)) return; // told behind the release
    const { referee, scenario } = this.#world;
    // It may have waited for its turn; what comes too late is refused: the backend judges the lease in the same swap.
    const { hasWaitedMs } = instance.link;
    const isHeld = token !== undefined && this.#isHeld(name, token, hasWaitedMs);
    if (isWrite(step)) {
      referee.holds(11, isHeld || !scenario.hasLock, () => {
        return `${instance.name}: publishes ${name} with token ${token}, whose lease is over`;
      });
      return;
    }
    referee.holds(15, isHeld, () => `${instance.name}: ${step} of ${name} ${token}, whose lease is over`);
    if (step === 'extend' && hasWaitedMs === 0) {
      referee.holds(15, this.#isLoading(instance, name), () => {
        return `${instance.name}: extends ${name} ${token}, and nothing is loaded under it`;
      });
    }
    // A call for many keys has the token of one key only.
    const isOfMany = scenario.isBatched && name.startsWith('codes');
    if (message.as === 'done' && !isOfMany) {
      referee.holds(14, this.#world.completed.has(`${name} ${token}`), () => {
        return `${instance.name}: releases ${name} ${token} as done, and no load under it has succeeded`;
      });
    }
  }

  /** A call for many keys is one load: the leases of its keys are kept until it has settled for all of them. */
  #isLoading({ subjects, isUnseen }: Instance, name: string): boolean {
    if (isUnseen) return true;
    const isOfMany = this.#world.scenario.isBatched && name.startsWith('codes');
    for (const { options, running, inspect } of subjects.values()) {
      if (options.lockName === name && (running.size > 0 || inspect()?.running === true)) return true;
      if (isOfMany && [...running].some(({ isBatched }) => isBatched)) return true;
    }
    return false;
  }

  /** As far as its holder can know: it notices later that the backend has lost its data. */
  #isHeld(name: string, token: number, before: number = 0): boolean {
    const lease = this.#world.leases.of(name, token);
    if (lease === undefined) return false;
    if (lease.isForgotten) return true;
    const now = this.#world.backend.now - before;
    // A released lease may be released again if the answer was lost.
    if (lease.ending !== undefined) return now < lease.until + LATE_MS;
    return now < lease.endedAt + LATE_MS;
  }
}
