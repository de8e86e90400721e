/** Lets a read of one member of a group start other members that are due. */
export interface PiggybackTrigger {
  /** A read at or after this instant (monotonic) calls {@link read}. `Infinity`: no read. `-Infinity`: each read. */
  readonly readsFrom: number;
  read(): void;
}

/** The trigger of a member without a group. */
export const neverTriggers: PiggybackTrigger = { readsFrom: Number.POSITIVE_INFINITY, read: () => {} };

/** The trigger of a member that is closed and throws at each read: no read takes the short way. */
export const alwaysTriggers: PiggybackTrigger = { readsFrom: Number.NEGATIVE_INFINITY, read: () => {} };
