/** Turns values into text or bytes and back. */
export interface Codec {
  /**
   * Names the format, with its version: `'msgpack/1'`. A snapshot of another format is not decoded: it counts as
   * absent, and is reported. @default 'custom'
   */
  readonly format?: string | undefined;
  /** Throws for a value that it can't encode. */
  encode(value: unknown): string | Uint8Array | PromiseLike<string | Uint8Array>;
  /** Decodes the text or bytes that `encode` returned. Throws for anything else. */
  decode(encoded: string | Uint8Array): unknown;
}

/** A validator of values: https://standardschema.dev. zod, valibot, arktype and others implement it. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1;
    validate(value: unknown): StandardResult | PromiseLike<StandardResult>;
  };
}

/** The result of a validation by a {@link StandardSchema}. */
export type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

/** The snapshot that a store has under a name. */
export interface StoredSnapshot {
  /** Grows with each write of the name. After a write with a token it is the token. */
  readonly version: number;
  /** Milliseconds since it was written, by the server's clock. */
  readonly age: number;
  /** The text that was written. */
  readonly payload: string;
  /**
   * Why it can't be used: it was edited by hand, or the disk is broken. The payload is empty then. The snapshot counts as
   * absent, and is reported; the next write replaces it. @default undefined: it is not damaged
   */
  readonly damage?: string | undefined;
}

/** The outcome of a write. */
export interface WriteAnswer {
  /** `refused`: a write with a newer token was there before. */
  readonly kind: 'written' | 'refused';
  /** The version that the store holds now. */
  readonly version: number;
}

/**
 * Holds the last snapshot of each name for all instances of a cluster, and over restarts.
 *
 * Each method is one atomic step at the backend, whose clock alone decides the age of a snapshot. It rejects with
 * `StoreUnavailableError`, within a bounded time, when the backend can't be asked, and otherwise only with `OptionError`,
 * when the caller breaks a rule.
 *
 * For adapter authors: wrap your backend with `createStore`. It checks requests, limits the time of steps, and turns
 * errors into `StoreUnavailableError`. `storeConformance` tests the result.
 *
 * ```ts
 * import type { SnapshotStore, StoredSnapshot, WriteAnswer } from 'tickless';
 * import { createStore, type StoreEngine, type StoreOptions } from 'tickless/store';
 * import { storeConformance } from 'tickless/testing';
 *
 * // A service that can replace a text if it is still the one that was read, as etcd, Consul, DynamoDB and Deno KV can.
 * interface Registry {
 *   read(key: string): Promise<{ text: string | undefined; now: number }>; // by the service's clock
 *   replace(key: string, before: string | undefined, after: string): Promise<boolean>;
 *   delete(key: string): Promise<boolean>;
 * }
 *
 * interface Written {
 *   readonly version: number;
 *   readonly writtenAt: number;
 *   readonly payload: string;
 * }
 *
 * class RegistryStore implements StoreEngine {
 *   readonly #registry: Registry;
 *
 *   constructor(registry: Registry) {
 *     this.#registry = registry;
 *   }
 *
 *   async read(name: string, newerThan = -1): Promise<StoredSnapshot | undefined> {
 *     const { text, now } = await this.#registry.read(name);
 *     if (text === undefined) return undefined;
 *     const { version, writtenAt, payload } = JSON.parse(text) as Written;
 *     return version > newerThan ? { version, age: now - writtenAt, payload } : undefined;
 *   }
 *
 *   async write(name: string, payload: string, token?: number): Promise<WriteAnswer> {
 *     for (;;) {
 *       const { text, now } = await this.#registry.read(name);
 *       const held = text === undefined ? 0 : (JSON.parse(text) as Written).version;
 *       if (token !== undefined && token < held) return { kind: 'refused', version: held };
 *       const version = token ?? Math.max(held + 1, Math.floor(now * 1000));
 *       const next = JSON.stringify({ version, writtenAt: now, payload });
 *       if (await this.#registry.replace(name, text, next)) return { kind: 'written', version };
 *     }
 *   }
 *
 *   delete(name: string): Promise<boolean> {
 *     return this.#registry.delete(name);
 *   }
 * }
 *
 * function registryStore({ registry, ...options }: StoreOptions & { registry: Registry }): SnapshotStore {
 *   return createStore(new RegistryStore(registry), options, { longestName: undefined, options: [] });
 * }
 *
 * // In the place of the service, for this example.
 * const texts = new Map<string, string>();
 * const registry: Registry = {
 *   read: async (key) => ({ text: texts.get(key), now: Date.now() }),
 *   replace: async (key, before, after) => texts.get(key) === before && texts.set(key, after) !== undefined,
 *   delete: async (key) => texts.delete(key),
 * };
 * const cases = storeConformance({ store: () => registryStore({ registry }) });
 * await Promise.all(cases.map(({ run }) => run())); // in your tests: it(name, run)
 * console.log(cases.length > 10); // true
 * ```
 */
export interface SnapshotStore {
  /** How values become payloads. @default JSON */
  readonly codec?: Codec | undefined;
  /** Checks values that are read. @default no check */
  readonly schema?: StandardSchema | undefined;
  /** The longest name that it takes, in bytes of UTF-8. `undefined`: any. */
  readonly longestName?: number | undefined;
  /**
   * The snapshot of a name; `undefined`: there is none, or none newer.
   *
   * @param newerThan only one whose version is greater. @default any
   */
  read(name: string, newerThan?: number): Promise<StoredSnapshot | undefined>;
  /**
   * Puts a snapshot in the place of an older one. Doing so again with the same token, because the answer was lost,
   * answers `written` again.
   *
   * @param token the fencing token of the lease under which it was made. It is refused where it is less than the
   * version that is held. Without one the version is `max(previous + 1, the server's clock in microseconds)`.
   */
  write(name: string, payload: string, token?: number): Promise<WriteAnswer>;
  /** Forgets the snapshot of a name. @returns whether there was one. */
  delete(name: string): Promise<boolean>;
}
