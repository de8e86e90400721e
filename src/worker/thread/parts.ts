import type { Container, Part } from '../protocol.ts';
import { References } from './references.ts';
import { containerOf, sharedIn, weightOf } from './walk.ts';

/** The weight that is received in about a millisecond. */
const MOST_WEIGHT = 4096;

/**
 * Splits a value into parts, so that receiving it blocks the other thread for one part at a time. Receiving the whole
 * value at once could block it for as long as the load itself would have.
 *
 * Large containers, at any depth, are sent entry by entry; everything else is cloned as it is. An object that occurs
 * several times is sent once, and referred to by its number after that. A reference cannot be filled in later inside
 * the
 * key of a `Map`, a `Set` or anything that is cloned as a whole: a value with such a reference is sent in one part.
 */
export function* parts(value: unknown, mostWeight: number = MOST_WEIGHT): Generator<Part> {
  const shared = sharedObjects(value);
  if (shared === undefined) yield { kind: 'fill', keys: [], values: [value], references: undefined };
  else yield* new Splitter(mostWeight, new References(shared)).of(undefined, value);
}

function sharedObjects(value: unknown): ReadonlySet<object> | undefined {
  try {
    return sharedIn(value);
  } catch {
    return undefined; // nested too deeply, or a getter threw: the structured clone reports it
  }
}

class Splitter {
  readonly #mostWeight: number;
  readonly #references: References;

  constructor(mostWeight: number, references: References) {
    this.#mostWeight = mostWeight;
    this.#references = references;
  }

  *of(key: unknown, value: unknown): Generator<Part> {
    const container = this.#isHeavy(value) ? splittableAs(value) : undefined;
    if (container === undefined) {
      yield this.#references.fill([key], [value]);
      return;
    }
    yield { kind: 'open', container, key, isShared: this.#references.register(value as object) };
    let keys: unknown[] = [];
    let values: unknown[] = [];
    let weight = 0;
    for (const [innerKey, inner] of entriesOf(container, value)) {
      const added = this.#weightOf(innerKey) + this.#weightOf(inner);
      if (weight + added > this.#mostWeight && values.length > 0) {
        yield this.#references.fill(keys, values);
        [keys, values, weight] = [[], [], 0];
      }
      if (added > this.#mostWeight) yield* this.of(innerKey, inner);
      else {
        keys.push(innerKey);
        values.push(inner);
        weight += added;
      }
    }
    if (values.length > 0) yield this.#references.fill(keys, values);
    yield { kind: 'close' };
  }

  #isHeavy(value: unknown): boolean {
    return !this.#references.isKnown(value) && this.#weightOf(value) >= this.#mostWeight;
  }

  #weightOf(value: unknown): number {
    return weightOf(value, this.#mostWeight, (one) => this.#references.isKnown(one));
  }
}

function splittableAs(value: unknown): Container | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  // An array with holes, or with properties beside its elements, is cloned as a whole.
  if (Array.isArray(value) && Object.keys(value).length !== value.length) return undefined;
  return containerOf(value);
}

function entriesOf(container: Container, value: unknown): Iterable<readonly [unknown, unknown]> {
  switch (container) {
    case 'array':
    case 'set':
      return withoutKeys(value as Iterable<unknown>);
    case 'map':
      return value as Map<unknown, unknown>;
    case 'object':
      return ownEntries(value as Record<string, unknown>);
  }
}

function* withoutKeys(values: Iterable<unknown>): Generator<readonly [undefined, unknown]> {
  for (const value of values) yield [undefined, value];
}

/** As `Object.entries`, one at a time. */
function* ownEntries(value: Record<string, unknown>): Generator<readonly [string, unknown]> {
  for (const key of Object.keys(value)) yield [key, value[key]];
}
