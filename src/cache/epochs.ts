/** There may be as many tags as keys. Beyond this number of marks all entries are validated once, and the marks dropped. */
const MAX_MARKS = 10_000;

/**
 * Invalidates many entries in one step, whatever their number.
 *
 * An epoch is the number of such steps so far. Each entry remembers the epoch up to which it is valid: when its load
 * began, or when a read last found it valid. An entry of the present epoch costs a read one comparison; only after a
 * step is it checked against the marks that were set since.
 */
export class Epochs {
  /** The present epoch. */
  now: number = 0;
  #allMark = 0;
  #maxMarks = MAX_MARKS;
  readonly #tagMarks: Map<string, number> = new Map();

  /** All entries are to be validated again, though none is invalidated: the wall clock was stepped. */
  next(): void {
    this.now += 1;
  }

  /** All entries are out of date. */
  markAll(): void {
    this.#allMark = ++this.now;
    this.#tagMarks.clear();
  }

  /** All entries with the tag are out of date. */
  markTag(tag: string): void {
    this.#tagMarks.set(tag, ++this.now);
  }

  /** A step since that epoch has invalidated an entry with these tags. */
  isOutdated(validatedEpoch: number, tags: readonly string[] | undefined): boolean {
    if (validatedEpoch === this.now) return false;
    if (validatedEpoch < this.#allMark) return true;
    return tags?.some((tag) => (this.#tagMarks.get(tag) ?? 0) > validatedEpoch) ?? false;
  }

  /** There are too many marks: validate all entries, then call {@link forget}. */
  get isCrowded(): boolean {
    return this.#tagMarks.size > this.#maxMarks;
  }

  /** Forgets the marks up to that epoch: all entries are validated, and all earlier loads have ended. */
  forget(upTo: number): void {
    for (const [tag, mark] of this.#tagMarks) if (mark <= upTo) this.#tagMarks.delete(tag);
    // The marks that are left must not make each further mark as expensive.
    this.#maxMarks = Math.max(MAX_MARKS, 2 * this.#tagMarks.size);
  }
}
