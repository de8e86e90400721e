/** Counts the objects that are not garbage-collected yet, by kind, without referencing them. */
export class Census {
  readonly #live: Record<string, number> = {};
  readonly #registry: FinalizationRegistry<string> = new FinalizationRegistry((kind) => {
    this.#live[kind] = (this.#live[kind] ?? 0) - 1;
  });

  /** @returns the object. */
  add<T extends object>(kind: string, object: T): T {
    this.#live[kind] = (this.#live[kind] ?? 0) + 1;
    this.#registry.register(object, kind);
    return object;
  }

  get live(): Record<string, number> {
    return { ...this.#live };
  }
}
