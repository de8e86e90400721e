import type { Backend } from '../engine/backend.ts';
import type { BackendOptions } from '../records/backend-options.ts';
import { memoryRecords } from '../records/memory-records.ts';
import type { OpenRecords } from '../records/records-kind.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { backendOn } from './backend.ts';

export type { Backend } from '../engine/backend.ts';

/** The options of {@link memoryBackend}. */
export interface MemoryBackendOptions extends BackendOptions {
  /** Clock of leases, holds and ages; `FakeClock` of `tickless/testing` in tests. @default the machine's */
  readonly clock?: Clock | undefined;
}

/**
 * A backend in the memory of this process: for tests, and for several values that share one source. Instances that share the object
 * share the backend. It keeps the record of each name for ever, except those of absent keys: do not use it for an unbounded number of keys.
 *
 * ```ts
 * import { RefreshingValue } from 'tickless';
 * import { memoryBackend } from 'tickless/memory';
 *
 * const backend = memoryBackend();
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * await rates.close();
 * ```
 *
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function memoryBackend(given: MemoryBackendOptions = {}): Backend {
  return backendOn(openMemory, given);
}

function openMemory(options: MemoryBackendOptions): OpenRecords {
  return { backend: 'memory', records: memoryRecords(options?.clock ?? systemClock), options: ['clock'] };
}
