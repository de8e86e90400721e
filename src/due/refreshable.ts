/** A request to start one load. */
export interface StartOfOne {
  /** Only an entry that may be started no later than this instant (monotonic). */
  readonly until: number;
  /** To be called once the load has ended, however it ended; not where none was started. */
  readonly ended: () => void;
}

/** A member of a due queue: a value, an executor, or a cache with its many keys. */
export interface Refreshable {
  /**
   * Starts the load of its own that is due soonest, behind the caller, and plans its {@link GroupSlot} anew.
   *
   * @returns whether a load was started and is under way.
   */
  startNext(start: StartOfOne): boolean;
  /** The process is to live until the loads under way have ended. */
  keepAlive(): void;
  /** Looks for due entries that it has announced by {@link GroupSlot.markUnscanned}. */
  rescan(): void;
  /** The wall clock was stepped: computes its due times anew and plans its slot. */
  compareClocks(): void;
}

/** The place of a member in a due queue. */
export interface GroupSlot {
  /** The member may be started from this instant on (monotonic); `Infinity`: it has nothing to start. */
  plan(from: number): void;
  /** Entries may be due that cost more to find than a read may cost: a request calls {@link Refreshable.rescan}. */
  markUnscanned(): void;
  /** From when on the next pass may start an entry that was started in this one: each is started once in a pass. */
  afterPass(): number;
  /** Gives the place back. */
  leave(): void;
}
