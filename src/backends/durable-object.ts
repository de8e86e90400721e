import type { Store } from '../cluster/store-contract.ts';
import type { Lock, LockOptions } from '../records/lock/create-lock.ts';
import type { OpenRecords } from '../records/records-kind.ts';
import type { StoreOptions } from '../records/store/create-store.ts';
import type { DurationLike } from '../time/duration.ts';
import { type Backend, backendOn, lockOn, storeOn } from './backend.ts';
import type { DurableObjectOptions as InObject } from './durable-object/object-namespace.ts';
import { ObjectRecords } from './durable-object/object-records.ts';

export type { Backend } from './backend.ts';
export type { ObjectNamespace, ObjectResponse, ObjectStub } from './durable-object/object-namespace.ts';
export type { ObjectSql, ObjectState, ObjectStorage } from './durable-object/object-state.ts';
export { TicklessObject } from './durable-object/tickless-object.ts';

/** The options of all that is in a Durable Object. */
export interface DurableObjectOptions extends InObject {
  /**
   * How long a record is kept at least: of a lock counted from the end of its lease or hold, of a store from the last write. Choose
   * more than the time between two loads: an instance that starts later finds no snapshot. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/** The options of {@link durableObjectLock}. */
export interface DurableObjectLockOptions extends LockOptions, DurableObjectOptions {}

/** The options of {@link durableObjectStore}. */
export interface DurableObjectStoreOptions extends StoreOptions, DurableObjectOptions {}

/** The options of {@link durableObjectBackend}: those of the lock and of the store. */
export interface DurableObjectBackendOptions extends DurableObjectLockOptions, DurableObjectStoreOptions {}

/**
 * A lock in a Durable Object of Cloudflare Workers: the class `TicklessObject` of `tickless/durable-object`, which the Worker
 * exports and binds. Each step is one request to the object, also that for several names; the clock is that of the object.
 * Names may have any length.
 *
 * A binding is known only while a request is handled, or from `import { env } from 'cloudflare:workers'`; it may be kept. So
 * the lock, and the members that use it, are made once for an isolate: at its first request, or at import by that `env`.
 *
 * ```ts no-run
 * import { RefreshingValue } from 'tickless';
 * import { durableObjectLock, type ObjectNamespace } from 'tickless/durable-object';
 *
 * let rates: RefreshingValue<Record<string, number>> | undefined;
 *
 * export default {
 *   async fetch(_request: Request, env: { TICKLESS: ObjectNamespace }): Promise<Response> {
 *     rates ??= new RefreshingValue({
 *       name: 'rates',
 *       load: () => ({ USD: 1.08 }),
 *       lock: durableObjectLock({ binding: env.TICKLESS }),
 *     });
 *     return Response.json(await rates.get());
 *   },
 * };
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function durableObjectLock(given: DurableObjectLockOptions): Lock {
  return lockOn(openDurableObject, given);
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
  return storeOn(openDurableObject, given);
}

/**
 * A lock and a store in Durable Objects of Cloudflare, for the option `backend`: {@link durableObjectLock} and {@link durableObjectStore} with the same options.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function durableObjectBackend(given: DurableObjectBackendOptions): Backend {
  return backendOn(openDurableObject, given);
}

function openDurableObject(about: 'lock' | 'store', options: DurableObjectOptions): OpenRecords {
  return {
    backend: 'durable-object',
    records: new ObjectRecords(about, options),
    options: ['binding', 'object', 'retention'],
  };
}
