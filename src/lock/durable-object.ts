import type { DurableObjectOptions } from '../durable-object/object-namespace.ts';
import { ObjectRecords } from '../durable-object/object-records.ts';
import { ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { createLock, type Lock, type LockOptions } from './create-lock.ts';
import { RecordLock } from './record-lock.ts';

export type {
  DurableObjectOptions,
  ObjectNamespace,
  ObjectResponse,
  ObjectStub,
} from '../durable-object/object-namespace.ts';

/** The options of {@link durableObjectLock}. */
export interface DurableObjectLockOptions extends LockOptions, DurableObjectOptions {
  /**
   * How long the record of an unused name is kept at least, counted from the end of its lease or hold. Over 0; `Infinity`: for
   * ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

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
  const options = ownOptions(given);
  return createLock(new RecordLock(new ObjectRecords('lock', options)), options, {
    longestName: undefined,
    options: ['binding', 'object', 'retention'],
  });
}
