import type { Chunk, Container, ReferencesOfChunk } from './chunk.ts';
import { setOwn } from './set-own.ts';
import { MOST_DEPTH } from './walk.ts';

type OpenContainer =
  | { readonly container: 'array'; readonly whole: unknown[] }
  | { readonly container: 'object' | 'dictionary'; readonly whole: Record<string, unknown> }
  | { readonly container: 'map'; readonly whole: Map<unknown, unknown> }
  | { readonly container: 'set'; readonly whole: Set<unknown> };

/** Reassembles a value from its chunks. They may come from outside: `add` throws for those that no value is split into. */
export class Assembly {
  #whole: unknown;
  /** The open containers, the innermost last. */
  readonly #open: OpenContainer[] = [];
  /** The objects that later chunks may refer to, by their numbers. */
  readonly #shared: unknown[] = [];

  /** The value so far; complete after the last chunk. */
  get whole(): unknown {
    return this.#whole;
  }

  add(chunk: Chunk): void {
    switch (chunk.kind) {
      case 'open': {
        if (this.#open.length > MOST_DEPTH) throw damaged(); // no value that is nested as deeply is split
        const opened = emptyContainer(chunk.container);
        if (chunk.isShared) this.#shared.push(opened.whole);
        this.#put(chunk.key, opened.whole);
        this.#open.push(opened);
        break;
      }
      case 'fill':
        if (chunk.references !== undefined) this.#fillGaps(chunk.references);
        for (const [i, value] of chunk.values.entries()) this.#put(chunk.keys[i], value);
        break;
      case 'close':
        this.#open.pop();
    }
  }

  #fillGaps({ shared, holders, keys, numbers }: ReferencesOfChunk): void {
    for (const one of shared) this.#shared.push(one);
    for (const [i, holder] of holders.entries()) {
      const value = this.#shared[numbers[i] as number];
      if (holder instanceof Map) holder.set(keys[i], value);
      else if (isGap(holder, keys[i])) setOwn(holder as object, keys[i] as string, value);
      else throw damaged();
    }
  }

  #put(key: unknown, value: unknown): void {
    const into = this.#open.at(-1);
    switch (into?.container) {
      case undefined:
        this.#whole = value;
        break;
      case 'array':
        into.whole.push(value);
        break;
      case 'object':
      case 'dictionary':
        if (typeof key !== 'string') throw damaged(); // the text of another one may be without end
        setOwn(into.whole, key, value);
        break;
      case 'map':
        into.whole.set(key, value);
        break;
      case 'set':
        into.whole.add(value);
    }
  }
}

/** Its place is there already: another index or length could make a sparse array of any size. */
function isGap(holder: unknown, key: unknown): boolean {
  const isKey = typeof key === 'string' && !(Array.isArray(holder) && key === 'length');
  return isKey && Object.hasOwn(holder as object, key);
}

function damaged(): TypeError {
  return new TypeError('the value was not split into such parts');
}

function emptyContainer(container: Container): OpenContainer {
  switch (container) {
    case 'array':
      return { container, whole: [] };
    case 'object':
      return { container, whole: {} };
    case 'dictionary':
      return { container, whole: Object.create(null) };
    case 'map':
      return { container, whole: new Map() };
    case 'set':
      return { container, whole: new Set() };
  }
}
