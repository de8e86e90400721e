import type { Message } from './message.ts';
import type { Referee } from './referee.ts';

/** A model of the versions of all names in the store: it takes no write with an older token (rule 12). */
export class VersionBook {
  readonly #versions: Map<string, number> = new Map();
  readonly #referee: Referee;

  constructor(referee: Referee) {
    this.#referee = referee;
  }

  /** A swap has written a version. */
  written({ name, token, over, expected }: Message, version: number): void {
    const held = this.#versions.get(name) ?? 0;
    const isNext = token === undefined ? version > held : version === token;
    const isNewer = version >= held || over === held;
    const isExpected = expected === undefined || expected === held;
    this.#referee.holds(12, isNext && isNewer && isExpected, () => {
      return `${name}: token ${token} became version ${version} after ${held}`;
    });
    this.#versions.set(name, version);
  }

  /** A write is answered. */
  answered({ name, token, expected, sparesPinned = false }: Message, kind: 'written' | 'refused'): void {
    const held = this.#versions.get(name) ?? 0;
    const isOlder = token !== undefined && token < held;
    const isRight = kind === 'written' || isOlder || expected !== undefined || sparesPinned;
    this.#referee.holds(12, isRight, () => `${name}: token ${token} after version ${held} was ${kind}`);
  }

  /** The store has lost all its data. */
  forgotten(): void {
    this.#versions.clear();
  }
}
