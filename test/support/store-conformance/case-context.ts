import type { Store, StoredSnapshot, WriteAnswer } from '../../../src/cluster/store-contract.ts';
import { present, same } from '../../../src/testing/assert.ts';
import { DEFAULT_UNIT_MS, sleep, uniqueName } from '../../../src/testing/conformance.ts';

/** The store under test of `storeConformance`. */
export interface StoreSubject {
  /** Returns a store of the backend, a new one or always the same. Called at the start of each case. */
  store(): Store | Promise<Store>;
  /** Returns a store of the same backend through another client, as another process has it. @default the same as `store` */
  other?(): Store | Promise<Store>;
  /** Returns a store of an unreachable backend, for example on a closed port. @default these cases are left out */
  unreachable?(): Store | Promise<Store>;
  /**
   * Makes the snapshot of a name look as if it was written `ms` milliseconds later, without the store.
   * @default these cases are left out
   */
  postdate?(name: string, ms: number): void | Promise<void>;
  /** The `keepVersions` of the stores, 3 or more. @default the cases of older versions are left out */
  readonly keepVersions?: number | undefined;
  /**
   * Returns a store of the backend with that `namespace`, which keeps the reports of instances.
   * @default the cases of reports are left out
   */
  inNamespace?(namespace: string): Store | Promise<Store>;
  /** Unit of the waiting times of the suite, in milliseconds. @default 150 */
  readonly unit?: number | undefined;
}

interface WriteTo {
  readonly name?: string;
  readonly store?: Store;
  readonly rejected?: number;
  readonly keepFor?: number;
}

/** The stores, times and names of one case. */
export class StoreCaseContext {
  readonly store: Store;
  readonly other: Store;
  readonly subject: StoreSubject;
  /** Milliseconds. */
  readonly unit: number;
  /** The name of this case. */
  readonly name: string = uniqueName('store');
  readonly #written: Set<string> = new Set();

  private constructor(subject: StoreSubject, store: Store, other: Store) {
    this.subject = subject;
    this.store = store;
    this.other = other;
    this.unit = subject.unit ?? DEFAULT_UNIT_MS;
  }

  static async begin(subject: StoreSubject): Promise<StoreCaseContext> {
    const store = await subject.store();
    return new StoreCaseContext(subject, store, (await subject.other?.()) ?? store);
  }

  async run(run: (context: StoreCaseContext) => Promise<void>): Promise<void> {
    try {
      await run(this);
    } finally {
      for (const name of this.#written) {
        await this.store.delete(name).catch(() => {}); // report the error of the case
        await sleep(0); // some clients are synchronous, and other cases measure time
      }
    }
  }

  /** The name is deleted after the case. */
  willWrite(name: string): void {
    this.#written.add(name);
  }

  write(
    payload: string,
    token?: number,
    { name = this.name, store = this.store, rejected, keepFor }: WriteTo = {},
  ): Promise<WriteAnswer> {
    this.willWrite(name);
    if (keepFor !== undefined) return store.write(name, payload, token, rejected, keepFor);
    if (rejected !== undefined) return store.write(name, payload, token, rejected);
    return token === undefined ? store.write(name, payload) : store.write(name, payload, token);
  }

  async written(payload: string, token?: number, to?: WriteTo): Promise<number> {
    const { kind, version } = await this.write(payload, token, to);
    same(kind, 'written', 'the answer of write');
    if (token !== undefined) same(version, token, 'the version of a write with a token');
    return version;
  }

  async snapshot(name: string = this.name): Promise<StoredSnapshot> {
    return present(await this.other.read(name), 'read');
  }

  async isStored(payload: string, version: number, what: string): Promise<void> {
    const snapshot = await this.snapshot();
    same(snapshot.version, version, `${what}: the version`);
    same(snapshot.payload, payload, `${what}: the payload`);
  }
}

export interface Case {
  readonly name: string;
  readonly needs: 'always' | 'unreachable' | 'postdate' | 'keepVersions' | 'inNamespace';
  run(context: StoreCaseContext): Promise<void>;
}

export function testCase(name: string, run: (context: StoreCaseContext) => Promise<void>): Case {
  return { name, needs: 'always', run };
}

/** A token as a lock issues it: microseconds. */
export const TOKEN = 1_767_225_600_000_000;
