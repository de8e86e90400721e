/** Returns what tells a record of an array from the others: its code, say. Records with the same id count as one, the last. */
export type IdOf = (record: never) => unknown;

/** An element of an array or a `Set`. */
// biome-ignore lint/suspicious/noExplicitAny: of a value of any type it is of any type too.
export type ElementOf<T> = T extends readonly (infer E)[] | ReadonlySet<infer E> ? Own<T, E> : any;

// biome-ignore lint/suspicious/noExplicitAny: likewise.
type Own<T, E> = 0 extends 1 & T ? any : E;

/** The `idOf` that a guard or a source has itself: functions inherit properties of `Object.prototype` too. */
export function ownIdOf(of: unknown): IdOf | undefined {
  return typeof of === 'function' && Object.hasOwn(of, 'idOf') ? (of as { idOf?: IdOf }).idOf : undefined;
}

/** A guard or a source with it. */
export function withIdOf<F extends object>(idOf: IdOf | undefined, of: F): F {
  return idOf === undefined ? of : Object.assign(of, { idOf });
}
