import type { Store, StoredSnapshot } from '../../../../src/cluster/store-contract.ts';
import {
  type Backend,
  RefreshingCache,
  RefreshingValue,
  type TicklessEvent,
  type ValueOptions,
} from '../../../../src/index.ts';
import type { BackendOptions } from '../../../../src/records/backend-options.ts';
import { memoryRecords } from '../../../../src/records/memory-records.ts';
import { LOCK } from '../../../../src/records/names.ts';
import type { Answer, Edit } from '../../../../src/records/records.ts';
import { FakeClock } from '../../../../src/testing/index.ts';
import { recordEvents, recordLines } from '../../../support/events.ts';
import { partsOn, recordsWith } from '../../../support/parts.ts';
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

  async write(_: string, payload: string, token: number = 1): ReturnType<Store['write']> {
    this.written.push(payload);
    return { kind: 'written', version: token };
  }

  async delete(): Promise<boolean> {
    return true;
  }
}

/** Opens a backend. @param clock of its leases */
type Open = (clock: FakeClock) => Backend;

/** A backend whose snapshots are those of an engine; its locks are in memory. */
export function heldBy(engine: StepsOfStore, options: BackendOptions = {}): Open {
  const isOfLock = ({ name }: Edit): boolean => name.startsWith(LOCK);
  return (clock) => {
    const [locks, snapshots] = [memoryRecords(clock), recordsOfStore(engine)];
    const records = recordsWith(locks, {
      mostEdits: 1,
      async apply(edits) {
        const { now, answers } = await locks.apply(edits.filter(isOfLock));
        const { answers: others } = await snapshots.apply(edits.filter((edit) => !isOfLock(edit)));
        const left = [answers.values(), others.values()] as const;
        return { now, answers: edits.map((edit) => left[isOfLock(edit) ? 0 : 1].next().value as Answer) };
      },
    });
    return partsOn(records, options);
  };
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
 * An instance that starts cold, with that backend.
 *
 * @param listens to all events, or leaves the reports to the logger.
 */
export async function readOf(
  open: Open,
  listens: boolean,
  own: Partial<ValueOptions<unknown>> = {},
): Promise<Read> {
  const clock = new FakeClock({ now: '2026-11-20T12:00:00Z' });
  const logger = recordLines();
  const load = async (): Promise<unknown> => LOADED;
  const member = new RefreshingValue<unknown>({
    name: 'v',
    load,
    schedule: 1000,
    clock,
    logger,
    backend: open(clock),
    ...own,
  });
  const events = listens ? recordEvents(member) : [];
  const value = await member.get();
  await clock.flush();
  return { value, lines: logger.lines, events, member, clock };
}

/** The same for a key of a cache. */
export async function keyedReadOf(
  open: Open,
  load: () => Promise<unknown> = async () => LOADED,
): Promise<Omit<Read, 'member'> & { readonly cache: RefreshingCache<string, unknown> }> {
  const clock = new FakeClock({ now: '2026-11-20T12:00:00Z' });
  const logger = recordLines();
  const cache = new RefreshingCache<string, unknown>({
    name: CACHE,
    load,
    schedule: 1000,
    clock,
    logger,
    backend: open(clock),
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
  await readOf(heldBy(engine), false, { load: async () => value, logger: false, ...own });
  return engine.written[0];
}
