import type { Container, Part, ReferencesOfPart } from './part.ts';
import { setOwn } from './set-own.ts';

type OpenContainer =
  | { readonly container: 'array'; readonly whole: unknown[] }
  | { readonly container: 'object' | 'dictionary'; readonly whole: Record<string, unknown> }
  | { readonly container: 'map'; readonly whole: Map<unknown, unknown> }
  | { readonly container: 'set'; readonly whole: Set<unknown> };

/** Reassembles a value from its parts. */
export class Assembly {
  #whole: unknown;
  /** The open containers, the innermost last. */
  readonly #open: OpenContainer[] = [];
  /** The objects that later parts may refer to, by their numbers. */
  readonly #shared: unknown[] = [];

  /** The value so far; complete after the last part. */
  get whole(): unknown {
    return this.#whole;
  }

  add(part: Part): void {
    switch (part.kind) {
      case 'open': {
        const opened = emptyContainer(part.container);
        if (part.isShared) this.#shared.push(opened.whole);
        this.#put(part.key, opened.whole);
        this.#open.push(opened);
        break;
      }
      case 'fill':
        if (part.references !== undefined) this.#fillGaps(part.references);
        for (const [i, value] of part.values.entries()) this.#put(part.keys[i], value);
        break;
      case 'close':
        this.#open.pop();
    }
  }

  #fillGaps({ shared, holders, keys, numbers }: ReferencesOfPart): void {
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
