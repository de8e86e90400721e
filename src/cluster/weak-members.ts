/**
 * Members with what belongs to each, in the order in which they came. It keeps none alive: one that nothing else holds any longer is
 * collected, though it was not closed.
 */
export class WeakMembers<M extends object, V> {
  readonly #refs: Set<WeakRef<M>> = new Set();
  readonly #known: WeakMap<M, { readonly ref: WeakRef<M>; readonly value: V }> = new WeakMap();

  set(member: M, value: V): void {
    const ref = this.#known.get(member)?.ref ?? new WeakRef(member);
    this.#refs.add(ref);
    this.#known.set(member, { ref, value });
  }

  get(member: M): V | undefined {
    return this.#known.get(member)?.value;
  }

  delete(member: M): void {
    const known = this.#known.get(member);
    if (known !== undefined) this.#refs.delete(known.ref);
    this.#known.delete(member);
  }

  *[Symbol.iterator](): Generator<readonly [M, V]> {
    for (const ref of this.#refs) {
      const member = ref.deref();
      const known = member && this.#known.get(member);
      if (member === undefined || known === undefined) this.#refs.delete(ref);
      else yield [member, known.value];
    }
  }
}
