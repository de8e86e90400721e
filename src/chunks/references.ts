import type { Chunk, ReferencesOfChunk } from './chunk.ts';
import { setOwn } from './set-own.ts';
import { containerOf } from './walk.ts';

/**
 * Numbers the objects that occur more than once, in the order in which they are sent, and replaces each further
 * occurrence by a reference to that number.
 */
export class References {
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
