import type { Container, Part } from '../protocol.ts';
import { References } from './references.ts';
import { containerOf, sharedIn, weightOf } from './walk.ts';

/** So much is received in about a millisecond. */
const MOST_WEIGHT = 4096;

/**
 * A value in parts. The thread that receives it is held up by one part at a time, and not by the whole, which would
 * take it as long as the load itself.
 *
 * Large containers, wherever they are in the value, are built entry by entry; all else is cloned as it is. An object that
 * occurs twice is sent once, and put in again where it occurs again. In the key of a `Map`, in a `Set` and in what is
 * cloned as a whole nothing can be put in later: a value that has one there comes in one part.
 */
export function* parts(value: unknown, mostWeight: number = MOST_WEIGHT): Generator<Part> {
  const shared = sharedObjects(value);
  if (shared === undefined) yield { kind: 'fill', keys: [], values: [value], references: undefined };
  else yield* new Parting(mostWeight, new References(shared)).of(undefined, value);
}

function sharedObjects(value: unknown): ReadonlySet<object> | undefined {
  try {
    return sharedIn(value);
  } catch {
    return undefined; // nested too deeply, or a getter that throws: the structured clone says what it thinks of it
  }
}

class Parting {
  readonly #mostWeight: number;
  readonly #references: References;

  constructor(mostWeight: number, references: References) {
    this.#mostWeight = mostWeight;
    this.#references = references;
  }

  *of(key: unknown, value: unknown): Generator<Part> {
    const container = this.#isHeavy(value) ? builtAs(value) : undefined;
    if (container === undefined) {
      yield this.#references.fill([key], [value]);
      return;
    }
    yield { kind: 'open', container, key, isShared: this.#references.opens(value as object) };
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

function builtAs(value: unknown): Container | undefined {
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
