/** A loaded value that the guard or the schema refused, for people to decide on. */
export interface QuarantineStatus<T = unknown> {
  /** Why it was refused. */
  readonly reason: string;
  /** Since when all loaded values were refused, without one that was accepted in between. Epoch milliseconds. */
  readonly since: number;
  /** When this one was loaded. Epoch milliseconds. */
  readonly loadedAt: number;
  /** The number of its elements, or by the `sizeOf` of the guard; `undefined`: unknown. */
  readonly size: number | undefined;
  /** Why it is not kept, and can't be accepted: too large, or refused by the schema. Not present: it is kept. */
  readonly note?: string;
  /** The refused value itself; not present where it is not kept, and with `values: false`. */
  readonly value?: T;
}

/** The last refused value of an entry, until another one takes its place. */
export interface Quarantined<T> {
  readonly status: Omit<QuarantineStatus, 'value'>;
  /** `undefined`: it is not kept. */
  readonly candidate: { readonly value: T; readonly tags: readonly string[] | undefined } | undefined;
}
