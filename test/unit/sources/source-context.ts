import type { Kept, Loaded } from '../../../src/index.ts';
import type { Source, SourceContext, SourceMeta } from '../../../src/sources/index.ts';

/** Loads by a source as a value does, with its own last answer as the value in place. */
export class SourceUser<T> {
  #source: Source<T>;
  previous: SourceContext['previous'];

  constructor(source: Source<T>) {
    this.#source = source;
  }

  get meta(): SourceMeta | undefined {
    return this.previous?.meta;
  }

  /** @returns the new value, or `'kept'`. Rejects as the source does; the value in place stays. */
  async load(signal: AbortSignal = new AbortController().signal): Promise<T | 'kept'> {
    const answer: Loaded<T> | Kept = await this.#source({ signal, previous: this.previous });
    if ('loadedValue' in answer) {
      const { meta } = answer.loadedOptions;
      this.previous = { value: answer.loadedValue, loadedAt: 0, meta };
      return answer.loadedValue;
    }
    const { meta } = answer.options;
    if (meta !== undefined && this.previous !== undefined) this.previous = { ...this.previous, meta };
    return 'kept';
  }
}
