import { memoryBackend } from '../../../../src/backends/memory.ts';
import type { SnapshotStore, StoredSnapshot } from '../../../../src/cluster/store-contract.ts';
import {
  RefreshingCache,
  RefreshingValue,
  type TicklessEvent,
  type ValueOptions,
} from '../../../../src/index.ts';
import type { BackendOptions } from '../../../../src/records/backend-options.ts';
import { FakeClock } from '../../../../src/testing/index.ts';
import { recordEvents, recordLines } from '../../../support/events.ts';
import { lockOf, storeOn } from '../../../support/parts.ts';
import { recordsOfStore, type StepsOfStore } from '../../../support/records-of-steps.ts';

/** The value that readers get if no snapshot is used. */
export const LOADED = 'loaded anew';

const CACHE = 'c';

/** A backend that returns this row, whatever it is, and records what is written. */
export class StubBackend implements StepsOfStore {
  row: StoredSnapshot | undefined;
  readonly written: string[] = [];

  constructor(row: StoredSnapshot | undefined) {
    this.row = row;
  }

  /** The cache has no marks on its keys. */
  async read(name: string): Promise<StoredSnapshot | undefined> {
    return name === CACHE ? undefined : this.row;
  }

  async write(_: string, payload: string, token: number = 1): ReturnType<SnapshotStore['write']> {
    this.written.push(payload);
    return { kind: 'written', version: token };
  }

  async delete(): Promise<boolean> {
    return true;
  }
}

export function storeOf(engine: StepsOfStore, options: BackendOptions = {}): SnapshotStore {
  return storeOn(recordsOfStore(engine), options, { longestName: undefined, options: [] });
}

/** A row with this payload, an ordinary version and age. */
export function rowOf(payload: string): StoredSnapshot {
  return { version: 5, age: 10, payload };
}

/** Results of a first read. */
export interface Read {
  readonly value: unknown;
  readonly lines: readonly string[];
  readonly events: readonly TicklessEvent[];
  readonly member: RefreshingValue<unknown>;
  readonly clock: FakeClock;
}

/**
 * An instance that starts cold, with a lock and that store.
 *
 * @param listens to all events, or leaves the reports to the logger.
 */
export async function readOf(
  store: SnapshotStore,
  listens: boolean,
  own: Partial<ValueOptions<unknown>> = {},
): Promise<Read> {
  const clock = new FakeClock({ now: '2026-11-20T12:00:00Z' });
  const logger = recordLines();
  const lock = lockOf(memoryBackend({ clock }));
  const load = async (): Promise<unknown> => LOADED;
  const member = new RefreshingValue<unknown>({
    name: 'v',
    load,
    schedule: 1000,
    clock,
    logger,
    backend: { lock, store },
    ...own,
  });
  const events = listens ? recordEvents(member) : [];
  const value = await member.get();
  await clock.flush();
  return { value, lines: logger.lines, events, member, clock };
}

/** The same for a key of a cache. */
export async function keyedReadOf(
  store: SnapshotStore,
  load: () => Promise<unknown> = async () => LOADED,
): Promise<Omit<Read, 'member'> & { readonly cache: RefreshingCache<string, unknown> }> {
  const clock = new FakeClock({ now: '2026-11-20T12:00:00Z' });
  const logger = recordLines();
  const lock = lockOf(memoryBackend({ clock }));
  const cache = new RefreshingCache<string, unknown>({
    name: CACHE,
    load,
    schedule: 1000,
    clock,
    logger,
    backend: { lock, store },
  });
  const events = recordEvents(cache);
  const value = await cache.get('k').catch((error: Error) => error);
  await clock.flush();
  return { value, lines: logger.lines, events, cache, clock };
}

/** The payload that an instance writes after loading this value. `undefined`: it can't be encoded. */
export async function payloadOf(
  value: unknown,
  own: Partial<ValueOptions<unknown>> = {},
): Promise<string | undefined> {
  const engine = new StubBackend(undefined);
  await readOf(storeOf(engine), false, { load: async () => value, logger: false, ...own });
  return engine.written[0];
}
