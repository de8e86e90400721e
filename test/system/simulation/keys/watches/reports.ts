import type { StoredSnapshot } from '../../../../../src/cluster/store-contract.ts';
import type { Message, StepAnswer } from '../../message.ts';
import type { KeysInstance } from '../instance.ts';
import { NAME } from '../scenario.ts';
import type { KeysWatch } from '../watch.ts';
import type { KeysWorld } from '../world.ts';

/** The fleet: a report claims no mark that its instance can't know. */
export class Reports implements KeysWatch {
  readonly #world: KeysWorld;
  /** The last version of the invalidation log that each has read or written. */
  readonly #known: Map<KeysInstance, number> = new Map();

  constructor(world: KeysWorld) {
    this.#world = world;
  }

  answered(instance: KeysInstance, { step, name }: Message, answer: StepAnswer | undefined): void {
    if (name !== NAME || (step !== 'read' && step !== 'write')) return;
    const { version = 0 } = (answer ?? {}) as Partial<Pick<StoredSnapshot, 'version'>>;
    this.#known.set(instance, Math.max(version, this.#known.get(instance) ?? 0));
  }

  sent(instance: KeysInstance, { report }: Message): void {
    if (report === undefined || report === '-') return;
    const { members } = JSON.parse(report) as { readonly members: readonly { readonly version?: number }[] };
    const reported = members[0]?.version ?? 0;
    const known = this.#known.get(instance) ?? 0;
    this.#world.referee.holds('everywhere', reported <= known, () => {
      return `${instance.name}: it reports the mark ${reported}, and knows ${known}`;
    });
  }
}
