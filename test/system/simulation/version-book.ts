import type { WriteAnswer } from '../../../src/cluster/store-contract.ts';
import type { Referee } from './referee.ts';

/** A model of the versions of all names in the store: it rejects a write with an older token (rule 12). */
export class VersionBook {
  readonly #versions: Map<string, number> = new Map();
  readonly #referee: Referee;

  constructor(referee: Referee) {
    this.#referee = referee;
  }

  written(name: string, token: number | undefined, answer: WriteAnswer): void {
    const held = this.#versions.get(name) ?? 0;
    const mustBe = token !== undefined && token < held ? 'refused' : 'written';
    this.#referee.holds(
      12,
      answer.kind === mustBe,
      () => `${name}: token ${token} after version ${held} was ${answer.kind}`,
    );
    if (answer.kind === 'refused') return;
    const isNext = token === undefined ? answer.version > held : answer.version === token;
    this.#referee.holds(
      12,
      isNext,
      () => `${name}: token ${token} became version ${answer.version} after ${held}`,
    );
    this.#versions.set(name, answer.version);
  }

  /** The store has lost all its data. */
  forgotten(): void {
    this.#versions.clear();
  }
}
