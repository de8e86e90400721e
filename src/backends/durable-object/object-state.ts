/** The used part of a `DurableObjectState`. */
export interface ObjectState {
  readonly storage: ObjectStorage;
}

/** The used part of a `DurableObjectStorage`. */
export interface ObjectStorage {
  /** Of a class with SQLite storage only. */
  readonly sql: ObjectSql;
  getAlarm(): PromiseLike<number | null>;
  setAlarm(at: number): PromiseLike<void>;
}

/** The used part of a `SqlStorage`. Statements run at once, on the caller's stack. */
export interface ObjectSql {
  exec(statement: string, ...values: (string | number | null)[]): { toArray(): Record<string, unknown>[] };
}
