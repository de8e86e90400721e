/**
 * Lets a read of one member start what is due elsewhere, behind the reader: other members of its group, a check of its
 * store.
 */
export interface PiggybackTrigger {
  /** A read at or after this instant (monotonic) calls {@link read}. `Infinity`: no read. `-Infinity`: each read. */
  readonly readsFrom: number;
  /** @param now the monotonic clock. */
  read(now: number): void;
}

/** The trigger of a member without a group. */
export const neverTriggers: PiggybackTrigger = { readsFrom: Number.POSITIVE_INFINITY, read: () => {} };

/** The trigger of a member that is closed and throws at each read: no read takes the short way. */
export const alwaysTriggers: PiggybackTrigger = { readsFrom: Number.NEGATIVE_INFINITY, read: () => {} };

/** A read calls each of the two when its instant has come. */
export function bothTriggers(one: PiggybackTrigger, other: PiggybackTrigger): PiggybackTrigger {
  return {
    get readsFrom() {
      return Math.min(one.readsFrom, other.readsFrom);
    },
    read(now) {
      for (const trigger of [one, other]) if (now >= trigger.readsFrom) trigger.read(now);
    },
  };
}
