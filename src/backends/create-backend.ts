import type { Backend } from '../engine/backend.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import type { BackendOptions } from '../records/backend-options.ts';
import type { Records } from '../records/records.ts';
import { backendOn } from './backend.ts';

/** The particulars of your backend. */
export interface BackendKind {
  /**
   * The longest name that its records may have, in bytes of UTF-8, without the beginning of up to nine bytes that tells locks,
   * snapshots and reports apart. @default undefined: names of any length
   */
  readonly longestName?: number | undefined;
}

/**
 * Makes a backend of records. It limits the time of each step, and turns any error of the records into `BACKEND_DOWN`
 *. It carries the limits of concurrent steps and the circuit breakers, which all members that use it share. Call it
 * once for each backend of a process.
 *
 * ```ts
 * import { RefreshingValue } from 'tickless';
 * import { applied, createBackend, type Edit, type StoredRecord } from 'tickless/backend';
 *
 * const kept = new Map<string, StoredRecord>(); // of one process, so nothing comes between
 * const backend = createBackend({
 *   mostEdits: 1,
 *   sharesCommands: false,
 *   async apply(edits: readonly Edit[]) {
 *     const now = { at: Date.now(), wall: Date.now() };
 *     const answers = edits.map((edit) => {
 *       const { next, answer } = applied(kept.get(edit.name), edit, now);
 *       if (next === undefined) kept.delete(edit.name);
 *       else kept.set(edit.name, next);
 *       return answer;
 *     });
 *     return { now: now.wall, answers };
 *   },
 *   list: async () => ({ now: Date.now(), rows: [] }),
 *   editions: async () => [],
 * });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log((await rates.get()).USD); // 1.08
 * ```
 *
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function createBackend(records: Records, given: BackendOptions = {}, kind: BackendKind = {}): Backend {
  const checks = new OptionChecks('backend');
  checks.methods('records', records, ['apply', 'list', 'editions']);
  checks.done();
  const { longestName } = ownOptions(kind);
  return backendOn(() => ({ records, longestName, options: [] }), given);
}
