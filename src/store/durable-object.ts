import type { Store } from '../cluster/store-contract.ts';
import type { DurableObjectOptions } from '../durable-object/object-namespace.ts';
import { ObjectRecords } from '../durable-object/object-records.ts';
import { ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { createStore, type StoreOptions } from './create-store.ts';
import { RecordStore } from './record-store.ts';

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
 * import { durableObjectStore, type ObjectNamespace } from 'tickless/durable-object';
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
  const records = new ObjectRecords('store', options);
  return createStore(new RecordStore(records, options.keepVersions), options, {
    longestName: undefined,
    options: ['binding', 'object', 'retention'],
  });
}
