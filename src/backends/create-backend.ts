import type { Backend } from '../engine/backend.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import type { BackendOptions } from '../records/backend-options.ts';
import type { Cells } from '../records/cells/cells.ts';
import { SwappedRecords } from '../records/cells/swapped-records.ts';
import { RETENTION } from '../records/records-kind.ts';
import { toMillis } from '../time/duration.ts';
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
 * Makes a backend of cells. It limits the time of each step, and turns any error of the cells into `BACKEND_DOWN`. It carries
 * the limits of concurrent steps and the circuit breakers, which all members that use it share. Call it once for each backend
 * of a process. Records are kept for 7 days after their end.
 *
 * ```ts
 * import { RefreshingValue } from 'tickless';
 * import { type Change, createBackend } from 'tickless/backend';
 *
 * const texts = new Map<string, string>(); // of one process, and for short values: long texts are not kept
 * const backend = createBackend({
 *   async swap(changes: readonly Change[]) {
 *     const answers = changes.map(({ name, swap }) => {
 *       const text = texts.get(name);
 *       if (swap === undefined || text !== swap.before) return { isDone: false, text };
 *       if (swap.after === undefined) texts.delete(name);
 *       else texts.set(name, swap.after);
 *       return { isDone: true };
 *     });
 *     return { now: Date.now(), answers };
 *   },
 *   long: async (_name, ids) => ids.map(() => undefined),
 *   list: async (prefix) => ({ now: Date.now(), texts: [...texts].filter(([name]) => name.startsWith(prefix)) }),
 * });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log((await rates.get()).USD); // 1.08
 * ```
 *
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function createBackend(cells: Cells, given: BackendOptions = {}, kind: BackendKind = {}): Backend {
  const checks = new OptionChecks('backend');
  checks.methods('cells', cells, ['swap', 'long', 'list']);
  checks.done();
  const { longestName } = ownOptions(kind);
  const records = new SwappedRecords(cells, toMillis(RETENTION));
  return backendOn(() => ({ records, longestName, options: [] }), given);
}
