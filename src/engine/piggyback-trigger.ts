/**
 * Lets a read of one member start work that is due elsewhere, behind the reader: other members of its group, a check of its
 * store. Members have one object of this class, so that V8 reads the field in each fresh read without asking what kind of
 * object it is; those with a group and checks have {@link bothTriggers}.
 */
export class PiggybackTrigger {
  /** A read at or after this instant (monotonic) calls {@link read}. `Infinity`: no read. */
  readsFrom: number;
  /** Gets the monotonic clock. */
  readonly read: (now: number) => void;

  constructor(read: (now: number) => void, readsFrom: number = Infinity) {
    this.readsFrom = readsFrom;
    this.read = read;
  }
}

/** The trigger of a member without a group. */
export const neverTriggers: PiggybackTrigger = /* @__PURE__ */ new PiggybackTrigger(() => {});

/** A read calls each of the two when its instant has come. `readsFrom` is computed in each read. */
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
