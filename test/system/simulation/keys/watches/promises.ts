import { isTicklessError } from '../../../../../src/index.ts';
import type { KeyOrder, KeysWatch } from '../watch.ts';
import type { KeysWorld } from '../world.ts';

/** What is done for all instances resolves, or rejects with one of the documented reasons. */
export class Promises implements KeysWatch {
  readonly #world: KeysWorld;

  constructor(world: KeysWorld) {
    this.#world = world;
  }

  settled({ kind, id, instance, outcome }: KeyOrder): void {
    if (kind === 'refresh' || outcome === undefined || !('error' in outcome)) return; // the error of a load
    const { error } = outcome;
    const isOfBackend = isTicklessError(error, 'BACKEND_DOWN') || isTicklessError(error, 'BACKEND_DOWN');
    const isReason = isOfBackend || (isTicklessError(error, 'CLOSED') && instance.process.closing !== 'no');
    this.#world.referee.holds('everywhere', isReason, () => {
      return `${instance.name}: ${kind} (${id}): it fails with ${error}`;
    });
  }
}
