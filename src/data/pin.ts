/** A version that a person holds in place, as `inspect()` shows it. */
export interface PinStatus {
  /** The person, as given to `rollback`. */
  readonly by: string;
  /** The reason, as given to `rollback`; `undefined`: none. */
  readonly note: string | undefined;
  /** When it was pinned, in epoch milliseconds. */
  readonly since: number;
  /** When due loads replace it again, in epoch milliseconds; `Infinity`: after `unpin()` only. */
  readonly until: number;
}

/** A pin that is asked for. */
export interface PinRequest {
  readonly by: string;
  readonly note: string | undefined;
  /** For how long, in milliseconds; `Infinity`: until `unpin()`. */
  readonly holdMs: number;
}
