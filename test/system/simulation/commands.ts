import type { Instance } from './instance.ts';
import type { Message } from './message.ts';
import type { Status, Subject } from './subject.ts';
import type { World } from './world.ts';

/** Commands of a round: the claim, which also looks, and the publication, which also ends the lease; for the others the claim. */
const WINNER = 2;
const OTHER = 1;

/** Until there is a first value, waiting instances poll; at most this many times each. */
const COLD = 8;

/** Rule 18: a fresh read sends no command, and a round costs few commands. */
export class Commands {
  readonly #world: World;
  /** The subjects that were fresh and were read in this step. */
  readonly #fresh: Set<Subject> = new Set();
  #ofRates = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** A subject is about to be read. */
  read(subject: Subject): void {
    const isSeen = subject.options.lockName !== undefined && !subject.instance.isUnseen;
    const status = isSeen ? subject.inspect() : undefined;
    const isFresh = status?.isDue === false && !status.running;
    // A load that has ended on the stack of its reader, without the lock: the acquire of that reader is the probe, and comes behind.
    const isProbed = status?.age === 0 && status.lock?.version === undefined;
    if (isFresh && !isProbed && !this.#mayBeTakenAlong(subject, status)) this.#fresh.add(subject);
    else this.#fresh.delete(subject);
  }

  /** The subject was evicted in this step, and is read again: what is sent is for that call. */
  missed(subject: Subject): void {
    this.#fresh.delete(subject);
  }

  /** The due reload of another key may take it along, in the second half of its time. */
  #mayBeTakenAlong({ id }: Subject, { age = 0, lastEndedAt = 0, nextExecuteTime }: Status): boolean {
    const isInBatches = this.#world.scenario.isBatched && id.includes('.codes[');
    return isInBatches && 2 * age >= nextExecuteTime - lastEndedAt;
  }

  sent(instance: Instance, { step, name }: Message): void {
    if (step !== 'acquire' && step !== 'read') return; // a round goes on
    for (const { id, options, instance: own } of this.#fresh) {
      // One that closes asks once more for what had no answer, to give it back.
      const isItsOwn = own === instance && options.lockName === name && own.closing === 'no';
      this.#world.referee.holds(18, !isItsOwn, () => `${id}: a fresh read leads to ${step}`);
    }
  }

  /** A command leaves. */
  commanded(messages: readonly Message[]): void {
    if (messages.some(({ name, step }) => name === 'rates' && step !== 'extend')) this.#ofRates += 1;
  }

  stepped(): void {
    this.#fresh.clear();
  }

  /** Checked at the end of a world without faults. */
  count(): void {
    const { scenario, leases, referee } = this.#world;
    const { isCalm, hasStore, instances } = scenario;
    if (!isCalm || !hasStore) return;
    const rounds = leases.grantedOf('rates');
    const most = rounds * (WINNER + OTHER * (instances - 1)) + COLD * instances;
    referee.holds(18, this.#ofRates <= most, () => {
      return `rates: ${this.#ofRates} commands in ${rounds} rounds of ${instances} instances, more than ${most}`;
    });
  }
}
