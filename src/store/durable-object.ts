import type {
  InstanceReport,
  SnapshotRead,
  SnapshotWrite,
  Store,
  StoredReport,
  StoredSnapshot,
  StoredVersion,
  WriteAnswer,
} from '../cluster/store-contract.ts';
import { ObjectClient } from '../durable-object/object-client.ts';
import type { DurableObjectOptions } from '../durable-object/object-namespace.ts';
import { ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { createStore, type StoreOptions } from './create-store.ts';
import type { StoreBackend } from './store-backend.ts';

export type {
  DurableObjectOptions,
  ObjectNamespace,
  ObjectResponse,
  ObjectStub,
} from '../durable-object/object-namespace.ts';

/** The options of {@link durableObjectStore}. */
export interface DurableObjectStoreOptions extends StoreOptions, DurableObjectOptions {
  /**
   * How long a snapshot is kept at least after its last write. Choose more than the time between two loads: an instance that
   * starts later finds none. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/**
 * A store in a Durable Object of Cloudflare Workers: the class `TicklessObject` of `tickless/durable-object`, which the Worker
 * exports and binds. Each step is one request to the object, also that for several names, and takes the report of the
 * instance along; ages are by the clock of the object. Names may have any length.
 *
 * A payload of up to 3 kB is in the row of its name; a longer one is in rows of its own, of up to 1.9 MB each. The object
 * has 128 MB of memory for all requests at a time, and a snapshot passes through it a few times over: use it for values of up
 * to some megabytes.
 *
 * As for the lock, the binding is known only while a request is handled; it may be kept.
 *
 * ```ts no-run
 * import { durableObjectStore, type ObjectNamespace } from 'tickless/store/durable-object';
 *
 * export default {
 *   async fetch(_request: Request, env: { TICKLESS: ObjectNamespace }): Promise<Response> {
 *     const store = durableObjectStore({ binding: env.TICKLESS });
 *     return Response.json(await store.write('rates', '{"USD":1.08}'));
 *   },
 * };
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function durableObjectStore(given: DurableObjectStoreOptions): Store {
  const options = ownOptions(given);
  return createStore(new RemoteStore(new ObjectClient('store', options)), options, {
    longestName: undefined,
    options: ['binding', 'object', 'retention'],
  });
}

/** The steps of a store, each sent to its object. */
class RemoteStore implements StoreBackend {
  readonly takesReports: boolean = true;
  readonly #object: ObjectClient;

  constructor(object: ObjectClient) {
    this.#object = object;
  }

  read(
    name: string,
    newerThan?: number,
    wanted?: number,
    report?: InstanceReport,
  ): Promise<StoredSnapshot | undefined> {
    return this.#object.ask('read', name, newerThan, wanted, report);
  }

  write(
    name: string,
    payload: string,
    token?: number,
    rejected?: number,
    keepFor?: number,
    report?: InstanceReport,
  ): Promise<WriteAnswer> {
    return this.#object.ask('write', name, payload, token, rejected, keepFor, report);
  }

  readMany(
    reads: readonly SnapshotRead[],
    report?: InstanceReport,
  ): Promise<(StoredSnapshot | undefined | Error)[]> {
    return this.#object.askMany('readMany', reads, report);
  }

  writeMany(writes: readonly SnapshotWrite[], report?: InstanceReport): Promise<(WriteAnswer | Error)[]> {
    return this.#object.askMany('writeMany', writes, report);
  }

  delete(name: string): Promise<boolean> {
    return this.#object.ask('delete', name);
  }

  history(name: string): Promise<StoredVersion[]> {
    return this.#object.ask('history', name);
  }

  versions(names: readonly string[], report?: InstanceReport): Promise<number[]> {
    return this.#object.ask('versions', names, report);
  }

  reports(beginning: string): Promise<StoredReport[]> {
    return this.#object.ask('reports', beginning);
  }
}
