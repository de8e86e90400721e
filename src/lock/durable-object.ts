import type { AcquireRequest, LeaseExtension, LeaseId } from '../cluster/lock-contract.ts';
import { ObjectClient } from '../durable-object/object-client.ts';
import type { DurableObjectOptions } from '../durable-object/object-namespace.ts';
import { ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { createLock, type Lock, type LockOptions } from './create-lock.ts';
import type { Ending, LeaseEnd, LockBackend, LockRow } from './lock-backend.ts';

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
 * import { durableObjectLock, type ObjectNamespace } from 'tickless/lock/durable-object';
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
  return createLock(new RemoteLock(new ObjectClient('lock', options)), options, {
    longestName: undefined,
    options: ['binding', 'object', 'retention'],
  });
}

/** The steps of a lock, each sent to its object. */
class RemoteLock implements LockBackend {
  readonly #object: ObjectClient;

  constructor(object: ObjectClient) {
    this.#object = object;
  }

  acquire(request: AcquireRequest): Promise<LockRow> {
    return this.#object.ask('acquire', request);
  }

  extend(lease: LeaseId, leaseFor: number): Promise<boolean> {
    return this.#object.ask('extend', lease, leaseFor);
  }

  release(lease: LeaseId, ending: Ending): Promise<boolean> {
    return this.#object.ask('release', lease, ending);
  }

  acquireMany(requests: readonly AcquireRequest[]): Promise<(LockRow | Error)[]> {
    return this.#object.askMany('acquireMany', requests);
  }

  releaseMany(ends: readonly LeaseEnd[]): Promise<(boolean | Error)[]> {
    return this.#object.askMany('releaseMany', ends);
  }

  extendMany(extensions: readonly LeaseExtension[]): Promise<(boolean | Error)[]> {
    return this.#object.askMany('extendMany', extensions);
  }

  find(name: string): Promise<LockRow | undefined> {
    return this.#object.ask('find', name);
  }

  list(prefix: string, limit: number): Promise<LockRow[]> {
    return this.#object.ask('list', prefix, limit);
  }

  forceRelease(name: string, token: number): Promise<boolean> {
    return this.#object.ask('forceRelease', name, token);
  }
}
