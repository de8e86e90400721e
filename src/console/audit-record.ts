/** One action of an operator, carried out or refused. */
export interface AuditRecord {
  /** When, in epoch milliseconds by the clock of the instance. */
  readonly at: number;
  /** The operator, as `authorize` returned it. */
  readonly by: string;
  readonly action: string;
  /** The name of the member or the lock. */
  readonly name: string;
  /** Of `release-lock`: the number of the lock among all, as `api/locks` shows it. */
  readonly lock?: number;
  /** The key as text, where the action concerned one key of a cache. */
  readonly key?: string;
  /** On this instance only. */
  readonly here?: true;
  /** The operator's reason, where one was given. */
  readonly note?: string;
  /** `done`, `failed`, or `refused`: it was not tried. */
  readonly result: 'done' | 'failed' | 'refused';
  /** The outcome, in one line. */
  readonly message: string;
  /** The host of the instance that carried it out. */
  readonly host: string;
}
