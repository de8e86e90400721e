/** Tags may be as many as keys; beyond so many marks, all entries are judged once and the marks forgotten. */
const MOST_MARKS = 10_000;

/**
 * Invalidates many entries in one step, whatever their number.
 *
 * An epoch is the number of such steps so far. Each entry remembers the one up to which it was judged: when its load
 * began, or when a read last found it valid. An entry that is judged as of the present epoch costs a read one
 * comparison; only after a step is it held against the marks that were set since.
 */
export class Epochs {
  /** The present one. */
  now: number = 0;
  #allMark = 0;
  #mostMarks = MOST_MARKS;
  readonly #tagMarks: Map<string, number> = new Map();

  /** Entries have to be looked at again, though none is invalidated: the wall clock was stepped. */
  next(): void {
    this.now += 1;
  }

  /** All entries that were judged before are out of date. */
  markAll(): void {
    this.#allMark = ++this.now;
    this.#tagMarks.clear();
  }

  /** Those among them that bear the tag are. */
  markTag(tag: string): void {
    this.#tagMarks.set(tag, ++this.now);
  }

  /** Did a step since it was judged invalidate it? */
  isOutdated(validatedEpoch: number, tags: readonly string[] | undefined): boolean {
    if (validatedEpoch === this.now) return false;
    if (validatedEpoch < this.#allMark) return true;
    return tags?.some((tag) => (this.#tagMarks.get(tag) ?? 0) > validatedEpoch) ?? false;
  }

  /** There are so many marks that all entries are to be judged, and then {@link forget} called. */
  get isCrowded(): boolean {
    return this.#tagMarks.size > this.#mostMarks;
  }

  /** Forgets the marks up to that epoch, all entries having been judged, and all loads of before having ended. */
  forget(upTo: number): void {
    for (const [tag, mark] of this.#tagMarks) if (mark <= upTo) this.#tagMarks.delete(tag);
    // Those that are left must not make each further mark as expensive.
    this.#mostMarks = Math.max(MOST_MARKS, 2 * this.#tagMarks.size);
  }
}
