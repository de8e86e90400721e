import type { Chunk, Container, ReferencesOfChunk } from './chunk.ts';
import { setOwn } from './set-own.ts';
import { containerOf, searchShared, weightOf } from './walk.ts';

/** The weight that is received, encoded or decoded in about a millisecond. */
const MOST_WEIGHT = 4096;

/**
 * Splits a value into chunks, so that receiving it blocks the other thread for one chunk at a time. Receiving the whole
 * value at once could block it for as long as the load itself would have.
 *
 * Large containers, at any depth, are split entry by entry; everything else stays as it is. An object that occurs
 * several times comes once, and is referred to by its number after that. A reference cannot be filled in later inside the
 * key of a `Map`, a `Set` or anything that is kept as a whole: a value with such a reference is one chunk.
 */
export function* chunks(value: unknown, mostWeight: number = MOST_WEIGHT): Generator<Chunk> {
  yield* chunksOf(value, sharedIn(value), mostWeight);
}

/**
 * {@link chunks} of a value whose shared objects are known already, from `searchShared`. An empty set: no object is taken for
 * one that came before. Without a set the value is one chunk.
 *
 * @param keepsPrototypes whether an object without a prototype comes as a `dictionary`; the structured clone gives it one.
 * @throws {TypeError} when a container has lost entries between two chunks, or one other than an object has gained some.
 */
export function* chunksOf(
  value: unknown,
  shared: ReadonlySet<object> | undefined,
  mostWeight: number = MOST_WEIGHT,
  keepsPrototypes: boolean = false,
): Generator<Chunk> {
  if (shared === undefined) yield { kind: 'fill', keys: [], values: [value], references: undefined };
  else yield* new Splitter(mostWeight, new References(shared), keepsPrototypes).of(undefined, value);
}

function sharedIn(value: unknown): ReadonlySet<object> | undefined {
  try {
    const search = searchShared(value);
    for (;;) {
      const step = search.next();
      if (step.done === true) return step.value;
    }
  } catch {
    return undefined; // a getter threw: the structured clone reports it
  }
}

class Splitter {
  readonly #mostWeight: number;
  readonly #references: References;
  readonly #keepsPrototypes: boolean;

  constructor(mostWeight: number, references: References, keepsPrototypes: boolean) {
    this.#mostWeight = mostWeight;
    this.#references = references;
    this.#keepsPrototypes = keepsPrototypes;
  }

  *of(key: unknown, value: unknown, weightOfValue: number = this.#weightOf(value)): Generator<Chunk> {
    const isHeavy = weightOfValue >= this.#mostWeight && !this.#references.isKnown(value);
    const container = isHeavy ? this.#splittableAs(value) : undefined;
    if (container === undefined) {
      yield this.#references.fill(key === undefined ? [] : [key], [value]);
      return;
    }
    yield { kind: 'open', container, key, isShared: this.#references.register(value as object) };
    const hasKeys = container !== 'array' && container !== 'set';
    const size = sizeOf(value as object);
    let count = 0;
    let keys: unknown[] = [];
    let values: unknown[] = [];
    let weight = 0;
    for (const [innerKey, inner] of entriesOf(container, value)) {
      count += 1;
      const innerWeight = this.#weightOf(inner);
      const added = this.#weightOf(innerKey) + innerWeight;
      if (weight + added > this.#mostWeight && values.length > 0) {
        yield this.#references.fill(keys, values);
        [keys, values, weight] = [[], [], 0];
      }
      if (added > this.#mostWeight) yield* this.of(innerKey, inner, innerWeight);
      else {
        if (hasKeys) keys.push(innerKey);
        values.push(inner);
        weight += added;
      }
    }
    if (values.length > 0) yield this.#references.fill(keys, values);
    if (size !== undefined && count !== size) throw wasChanged();
    yield { kind: 'close' };
  }

  #splittableAs(value: unknown): Container | undefined {
    const container = splittableAs(value);
    const isBare = this.#keepsPrototypes && container === 'object' && Object.getPrototypeOf(value) === null;
    return isBare ? 'dictionary' : container;
  }

  #weightOf(value: unknown): number {
    return weightOf(value, this.#mostWeight, (one) => this.#references.isKnown(one));
  }
}

function wasChanged(): TypeError {
  return new TypeError('the value was changed while it was split');
}

/** The number of entries; `undefined` for an object, whose keys are listed in one go. */
function sizeOf(container: object): number | undefined {
  if (container instanceof Map || container instanceof Set) return container.size;
  return Array.isArray(container) ? container.length : undefined;
}

function splittableAs(value: unknown): Container | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  // An array with holes, or with properties beside its elements, is kept as a whole.
  if (Array.isArray(value) && Object.values(value).length !== value.length) return undefined;
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
    case 'dictionary':
      return ownEntries(value as Record<string, unknown>);
  }
}

function* withoutKeys(values: Iterable<unknown>): Generator<readonly [undefined, unknown]> {
  for (const value of values) yield [undefined, value];
}

/** As `Object.entries`, one at a time. @throws {TypeError} when a key has been deleted meanwhile. */
function* ownEntries(value: Record<string, unknown>): Generator<readonly [string, unknown]> {
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(value, key)) throw wasChanged();
    yield [key, value[key]];
  }
}

/**
 * Numbers the objects that occur more than once, in the order in which they are sent, and replaces each further
 * occurrence by a reference to that number.
 */
class References {
  readonly #shared: ReadonlySet<object>;
  readonly #numbers: Map<unknown, number> = new Map();

  /** @param shared the objects that occur more than once. */
  constructor(shared: ReadonlySet<object>) {
    this.#shared = shared;
  }

  /** Whether the object was sent before and is referred to by its number. */
  isKnown(value: unknown): boolean {
    return this.#numbers.has(value);
  }

  /** Registers an object that is being sent. @returns whether it gets a number. */
  register(container: object): boolean {
    const isShared = this.#shared.has(container);
    if (isShared) this.#numbers.set(container, this.#numbers.size);
    return isShared;
  }

  /** A chunk with these entries. */
  fill(keys: readonly unknown[], values: readonly unknown[]): Chunk {
    if (this.#shared.size === 0) return { kind: 'fill', keys, values, references: undefined };
    const references = { shared: [], holders: [], keys: [], numbers: [] };
    const copies = this.#copyOf(values, references) as readonly unknown[];
    const { shared, holders } = references;
    if (shared.length === 0 && holders.length === 0)
      return { kind: 'fill', keys, values, references: undefined };
    return { kind: 'fill', keys, values: copies, references };
  }

  /** A deep copy in which references leave gaps; objects that cannot have gaps are not copied. */
  #copyOf(value: unknown, references: Mutable<ReferencesOfChunk>): unknown {
    if (typeof value !== 'object' || value === null) return value;
    const copy = emptyCopyOf(value);
    if (this.register(value)) references.shared.push(copy);
    const gapOrCopy = (key: unknown, inner: unknown): unknown => {
      const number = this.#numbers.get(inner);
      if (number === undefined) return this.#copyOf(inner, references);
      references.holders.push(copy);
      references.keys.push(key);
      references.numbers.push(number);
      return undefined;
    };
    if (copy === value) return value;
    if (value instanceof Map)
      for (const [key, inner] of value) (copy as Map<unknown, unknown>).set(key, gapOrCopy(key, inner));
    else for (const [key, inner] of Object.entries(value)) setOwn(copy, key, gapOrCopy(key, inner));
    return copy;
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

/** An empty container of the same kind, or the value itself if it cannot have gaps. */
function emptyCopyOf(value: object): object {
  switch (containerOf(value)) {
    case 'array':
      return new Array((value as unknown[]).length);
    case 'object':
      return Object.create(Object.getPrototypeOf(value));
    case 'map':
      return new Map();
    default:
      return value;
  }
}
