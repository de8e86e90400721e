import type { Hints } from '../../cluster/hint-contract.ts';
import type { Codec, Store, StoredSnapshot, WriteAnswer } from '../../cluster/store-contract.ts';
import { OptionChecks, ownOptions } from '../../option-checks.ts';
import type { StandardSchema } from '../../schema.ts';
import type { DurationLike } from '../../time/duration.ts';
import { wrapStore } from './wrap-store.ts';

/** Your own store, for {@link asStore}. */
export interface OwnStore {
  /** @returns the snapshot of that name, if there is one, and its version is greater than `newerThan` where that is given. */
  read(request: {
    readonly name: string;
    readonly newerThan?: number | undefined;
  }): Promise<StoredSnapshot | undefined>;
  /**
   * Replaces the snapshot, unless the present one has a greater version than `token` that is not `rejected`; in one atomic step.
   *
   * @param request without a `token` the store gives the version: one that is greater than the present one. `keepFor`: of no use
   *   after this many milliseconds.
   */
  write(request: {
    readonly name: string;
    readonly payload: string;
    readonly token?: number | undefined;
    readonly rejected?: number | undefined;
    readonly keepFor?: number | undefined;
  }): Promise<WriteAnswer>;
  /** @returns whether there was one. */
  delete(name: string): Promise<boolean>;
}

/** The options of {@link asStore}. */
export interface AsStoreOptions {
  /**
   * How long the store may be silent, that is, answer no step at all; then it counts as unavailable. Three times as long for a
   * write. Over 0, finite. @default 1 second
   */
  readonly timeout?: DurationLike | undefined;
  /** As of all stores. @default JSON, or devalue for what JSON would change */
  readonly codec?: Codec | undefined;
  /** As of all stores. @default none */
  readonly schema?: StandardSchema | undefined;
  /** As of all stores. @default none */
  readonly hints?: Hints | undefined;
  /** In bytes of UTF-8. @default undefined: names of any length */
  readonly longestName?: number | undefined;
}

/**
 * Makes an object with three methods usable as the option `store`. It keeps one version of each snapshot, and no reports of
 * instances: a backend of records has both (`createBackend`).
 *
 * All members that use the returned store share its limit of 32 concurrent steps and its circuit breaker: call `asStore`
 * once for each object and share the result. No step of a load takes more than 15 seconds, and no read more than a quarter
 * of the deadline of the load.
 *
 * ```ts
 * import { RefreshingValue } from 'tickless';
 * import { asStore } from 'tickless/backend';
 *
 * const kept = new Map<string, { version: number; payload: string; at: number }>();
 * const store = asStore({
 *   async read({ name, newerThan = -1 }) {
 *     const found = kept.get(name);
 *     return found && found.version > newerThan ? { ...found, age: Date.now() - found.at } : undefined;
 *   },
 *   async write({ name, payload, token, rejected }) {
 *     const { version = 0 } = kept.get(name) ?? {};
 *     const next = token ?? Math.max(version + 1, Date.now() * 1000);
 *     if (version > next && version !== rejected) return { kind: 'refused', version };
 *     kept.set(name, { version: next, payload, at: Date.now() });
 *     return { kind: 'written', version: next };
 *   },
 *   delete: async (name) => kept.delete(name),
 * });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), store });
 * const { USD } = await rates.get();
 * await rates.close(); // it has been published then
 * console.log(USD, kept.size); // 1.08 1
 * ```
 *
 * @throws {OptionError} when the object lacks one of the methods, or an option breaks a rule.
 */
export function asStore(store: OwnStore, given: AsStoreOptions = {}): Store {
  const options = ownOptions(given ?? {});
  const { codec, schema, longestName, ...others } = options;
  const checks = new OptionChecks('store');
  checks.names('', options, ['timeout', 'codec', 'schema', 'hints', 'longestName']);
  checks.methods('store', store, ['read', 'write', 'delete']);
  checks.done();
  const plain = {
    codec,
    schema,
    longestName,
    read: (name: string, newerThan?: number) => store.read({ name, newerThan }),
    write: (name: string, payload: string, token?: number, rejected?: number, keepFor?: number) =>
      store.write({ name, payload, token, rejected, keepFor }),
    delete: (name: string) => store.delete(name),
  };
  return wrapStore(plain, others);
}
