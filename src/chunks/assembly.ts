import type { Chunk, Container, ReferencesOfChunk } from './chunk.ts';
import { setOwn } from './set-own.ts';

type OpenContainer =
  | { readonly container: 'array'; readonly whole: unknown[] }
  | { readonly container: 'object' | 'dictionary'; readonly whole: Record<string, unknown> }
  | { readonly container: 'map'; readonly whole: Map<unknown, unknown> }
  | { readonly container: 'set'; readonly whole: Set<unknown> };

/** Reassembles a value from its chunks. */
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
      else setOwn(holder as object, keys[i] as string, value);
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
        setOwn(into.whole, key as string, value);
        break;
      case 'map':
        into.whole.set(key, value);
        break;
      case 'set':
        into.whole.add(value);
    }
  }
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
