import type { Message } from '../../network.ts';
import type { DataInstance } from '../instance.ts';
import type { DataWatch } from '../watch.ts';
import type { DataWorld } from '../world.ts';

/** The fleet: a report claims no version that its instance does not hold. */
export class Reports implements DataWatch {
  readonly #world: DataWorld;

  constructor(world: DataWorld) {
    this.#world = world;
  }

  sent({ name, prices }: DataInstance, { step, payload }: Message): void {
    if (step !== 'versions' || payload === undefined || payload === '-') return;
    const { members } = JSON.parse(payload) as {
      readonly members: readonly { readonly name: string; readonly version?: number }[];
    };
    const reported = members.find((member) => member.name === 'prices')?.version;
    const held = prices.inspect().lock?.version;
    this.#world.referee.holds(
      'everywhere',
      reported === undefined || held === undefined || reported <= held,
      () => `${name}: it reports version ${reported}, and holds ${held}`,
    );
  }
}
