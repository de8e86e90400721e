import type { Effect } from '../../../support/record-effects.ts';
import { Cluster } from '../cluster.ts';
import { type Message, type StepAnswer, wordsOfAnswer, wordsOfEffect } from '../message.ts';
import { strangeSwap, type Wire } from '../network.ts';
import type { Process } from '../process.ts';
import { Troubles } from './troubles.ts';

/** What every watch of such a cluster may hear. */
interface Watch<P, R> {
  began?(run: R): void;
  sent?(instance: P, message: Message): void;
  arrived?(instance: P, message: Message, effect: Effect): void;
  answered?(instance: P, message: Message, answer: StepAnswer | undefined): void;
  spoiled?(): void;
}

/** A cluster whose rules are checked by watches that are told of all that happens. */
export abstract class WatchedCluster<
  P extends Process & { readonly waiting: number },
  R extends { readonly serial: number },
> extends Cluster<P> {
  readonly runs: Map<number, R> = new Map();
  abstract readonly watches: readonly Watch<P, R>[];
  readonly #troubles: Troubles = new Troubles(this);

  /** An event has run in the instance, with all its immediate consequences. */
  protected abstract stepped(instance: P): void;

  /** A message as its trace shows it. */
  protected abstract shown(message: Message): string;

  protected override check(): void {
    if (this.#troubles.look()) for (const watch of this.watches) watch.spoiled?.();
    for (const instance of this.instances) {
      const { machine } = instance;
      if (machine.hasCrashed || !machine.isTouched) continue;
      machine.isTouched = false;
      this.stepped(instance);
    }
  }

  /** For so long it could do all that it had to. */
  isWellFor(instance: P, ms: number): boolean {
    return this.#troubles.isWellFor(instance, ms);
  }

  began(run: R): void {
    this.runs.set(run.serial, run);
    for (const watch of this.watches) watch.began?.(run);
  }

  /** @param instanceOf the process, once it is made. */
  wireOf(name: string, instanceOf: () => P): Wire {
    return {
      sent: (message) => {
        this.trace.add(name, () => `${this.shown(message)} →`);
        for (const watch of this.watches) watch.sent?.(instanceOf(), message);
      },
      failed: (message, how) => {
        instanceOf().faultAt = this.timeline.now;
        this.trace.add(name, () => `${this.shown(message)} ${how}`);
      },
      arrived: (message, effect) => {
        this.trace.add('backend', () => `${wordsOfEffect(effect)} of ${name}`);
        for (const watch of this.watches) watch.arrived?.(instanceOf(), message, effect);
      },
      dozes: (ms) => this.trace.add(name, () => `stands still for ${ms.toFixed(0)} ms before it sends`),
      strange: (effect) => strangeSwap(this.referee, name, effect),
      answered: (message, answer) => {
        this.trace.add(name, () => `${this.shown(message)}: ${wordsOfAnswer(answer)}`);
        for (const watch of this.watches) watch.answered?.(instanceOf(), message, answer);
      },
    };
  }

  /** Each open instance is read at some time of each period. */
  async readsFor(ms: number, everyMs: number, read: (instance: P) => void): Promise<void> {
    const { timeline, random } = this;
    const until = timeline.now + ms;
    const again = (): void => {
      if (timeline.now >= until) return;
      // Those that always read at the same moments may find the lock held by the same instance each time.
      for (const instance of this.open)
        instance.machine.receive(random.between(0, everyMs), () => read(instance));
      timeline.plan(everyMs, again);
    };
    timeline.plan(0, again);
    timeline.plan(ms, () => {});
    await this.until(() => timeline.now >= until);
  }

  /** Checks that nothing goes on. */
  isStill(): void {
    for (const { name, machine, waiting, closing } of this.instances) {
      if (closing === 'closing') continue;
      this.referee.holds(8, machine.timersAhead === 0, () => `${name}: a timer runs without reads`);
      this.referee.holds(4, waiting === 0, () => `${name}: ${waiting} calls are never answered`);
    }
  }
}
