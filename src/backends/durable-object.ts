import type { Backend } from '../engine/backend.ts';
import type { BackendOptions } from '../records/backend-options.ts';
import type { OpenRecords } from '../records/records-kind.ts';
import type { DurationLike } from '../time/duration.ts';
import { backendOn } from './backend.ts';
import type { DurableObjectOptions as InObject } from './durable-object/object-namespace.ts';
import { ObjectRecords } from './durable-object/object-records.ts';

export type { Backend } from '../engine/backend.ts';
export type { ObjectNamespace } from './durable-object/object-namespace.ts';
export type { ObjectState } from './durable-object/object-state.ts';
export { TicklessObject } from './durable-object/tickless-object.ts';

/** The options of {@link durableObjectBackend}. */
export interface DurableObjectBackendOptions extends BackendOptions, InObject {
  /**
   * How long a record is kept at least: of a lock counted from the end of its lease or hold, of a store from the last write. Choose
   * more than the time between two loads: an instance that starts later finds no snapshot. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/**
 * A backend in a Durable Object of Cloudflare Workers: the class `TicklessObject` of `tickless/durable-object`, which the Worker
 * exports and binds. Each step is one request to the object, also that for several names, and takes the report of the instance along; the
 * clock is that of the object. Names may have any length.
 *
 * A payload of up to 3 kB is in the row of its name; a longer one is in rows of its own, of up to 1.9 MB each. The object
 * has 128 MB of memory for all requests at a time, and a snapshot passes through it a few times over: use it for values of up
 * to some megabytes.
 *
 * A binding is known only while a request is handled, or from `import { env } from 'cloudflare:workers'`; it may be kept. So
 * the backend, and the members that use it, are made once for an isolate: at its first request, or at import by that `env`.
 *
 * ```ts no-run
 * import { RefreshingValue } from 'tickless';
 * import { durableObjectBackend, type ObjectNamespace } from 'tickless/durable-object';
 *
 * let rates: RefreshingValue<Record<string, number>> | undefined;
 *
 * export default {
 *   async fetch(_request: Request, env: { TICKLESS: ObjectNamespace }): Promise<Response> {
 *     rates ??= new RefreshingValue({
 *       name: 'rates',
 *       load: () => ({ USD: 1.08 }),
 *       backend: durableObjectBackend({ binding: env.TICKLESS }),
 *     });
 *     return Response.json(await rates.get());
 *   },
 * };
 * ```
 *
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function durableObjectBackend(given: DurableObjectBackendOptions): Backend {
  return backendOn(openDurableObject, given);
}

function openDurableObject(options: DurableObjectBackendOptions): OpenRecords {
  return {
    backend: 'durable-object',
    records: new ObjectRecords(options),
    options: ['binding', 'object', 'retention'],
  };
}
