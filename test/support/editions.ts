import { keep, loaded } from '../../src/index.ts';
import { ownNotes, type Source, type SourceContext } from '../../src/sources/source.ts';

/** A source by the conventions of `src/sources`, over an origin that a test changes: it keeps the edition that it has made itself. */
export class Editions<T = string> {
  readonly source: Source<T>;
  /** What it was asked with. */
  readonly contexts: SourceContext[] = [];
  readonly name: string;
  edition = 1;
  /** `undefined`: it doesn't say. */
  editedAt: number | undefined;
  /** What happens instead of an answer. */
  fault: (() => unknown) | undefined;
  readonly #make: (edition: number) => T;

  constructor(name: string, editedAt?: number, make?: (edition: number) => T) {
    this.name = name;
    this.editedAt = editedAt;
    this.#make = make ?? ((edition) => `${name} ${edition}` as T);
    this.source = async (context) => {
      this.contexts.push(context);
      await this.fault?.();
      const { edition, editedAt } = this;
      if (ownNotes(context, name)?.edition === edition) return keep();
      return loaded(this.#make(edition), { meta: { source: name, editedAt, edition } });
    };
  }

  get calls(): number {
    return this.contexts.length;
  }

  down(error: Error = new Error(`${this.name} is down`)): void {
    this.fault = () => {
      throw error;
    };
  }

  up(): void {
    this.fault = undefined;
  }
}
