import type { ManyStoreSteps, StoreSteps } from '../cluster/backend-steps.ts';
import { withCoordination } from '../cluster/coordination.ts';
import { withDamage } from '../cluster/damage.ts';
import { fleetOf } from '../cluster/fleet.ts';
import type { Hints } from '../cluster/hint-contract.ts';
import { bytesOf, presentOnly, versionRecord } from '../cluster/history.ts';
import { storeAccess } from '../cluster/joined-steps.ts';
import { checkNamespace, longestWithin, namespacePrefix } from '../cluster/namespace.ts';
import {
  type Codec,
  type InstanceReport,
  LONGEST_REPORT,
  type SnapshotRead,
  type SnapshotWrite,
  type Store,
  type StoredSnapshot,
  type WriteAnswer,
} from '../cluster/store-contract.ts';
import { DEFAULT_TIMEOUT_MS, writeTimeoutMs } from '../cluster/time-limits.ts';
import { allVersions } from '../cluster/versions-of.ts';
import { isOptionError, StoreUnavailableError, showKey } from '../errors.ts';
import { distinctNames, isText, OptionChecks, ownOptions } from '../option-checks.ts';
import { isSchema, SCHEMA_RULE, type StandardSchema } from '../schema.ts';
import type { Clock } from '../time/clock.ts';
import type { DurationLike } from '../time/duration.ts';
import { withTimeout } from '../time/with-timeout.ts';
import { defaultCodec } from './default-codec.ts';
import { type NamespacedReports, namespacedReports } from './namespaced-reports.ts';
import { namespacedStore } from './namespaced-store.ts';
import type { StoreBackend } from './store-backend.ts';

/** The options of all stores. */
export interface StoreOptions {
  /**
   * Encodes values as text or bytes, and decodes them. @default JSON, or devalue for what JSON would change: `Map`, `Set`,
   * `Date`, `BigInt`, typed arrays, `undefined`, `NaN`. Functions and instances of your classes are rejected. A value of more
   * than some 30,000 objects and primitive values (8,000 where JSON would change it) is encoded and decoded in parts of about a
   * millisecond, and the event loop runs between them: do not change it after the load
   */
  readonly codec?: Codec | undefined;
  /**
   * Checks values from the store: a snapshot that fails the check counts as absent, and is reported (event
   * `snapshot-rejected`). Any Standard Schema: zod, valibot, arktype. Readers get the output of the schema.
   * @default no check
   */
  readonly schema?: StandardSchema | undefined;
  /**
   * How long the backend may be silent, that is, answer no step at all, however long its client would wait, the client's own
   * queue included; then it counts as unavailable. Three times as long for a write; for a read at most a quarter of the
   * deadline of the load. Over 0, finite. While it answers others, a read is waited for until half of what is left of that
   * deadline, a write until the lease ends, at most for 15 seconds. Calls of these methods by hand reject after this time.
   * @default 1 second
   */
  readonly timeout?: DurationLike | undefined;
  /**
   * Separates services that share the backend: all names begin with `namespace/` there. Callers see
   * the names without it. Not empty. @default undefined: none
   */
  readonly namespace?: string | undefined;
  /**
   * How many versions of each snapshot are kept: the present one and those before it, which `history` lists and `read`
   * returns. They are kept as long as the snapshot of their name is. Give instances that share the backend the same
   * number: each write leaves as many as its own store keeps. 1 to 100. @default 1: the present one only, at no cost
   */
  readonly keepVersions?: number | undefined;
  /**
   * The `propagateWithin` of members that leave it out, and whose group does: within what time they take over changes of
   * other instances. Over 0; `Infinity`: at their next load. @default Infinity
   */
  readonly propagateWithin?: DurationLike | undefined;
  /**
   * Notifies other instances of `refresh()` and of every `everywhere` call. An instance with `propagateWithin` then queries the
   * store at its next read, delayed by up to 5 ms per instance beyond ten. Made by `redisHints`, `postgresHints` or `createHints`.
   * They keep a connection open. @default none: they query within `propagateWithin`
   */
  readonly hints?: Hints | undefined;
}

/** The names of {@link StoreOptions}. */
const COMMON: readonly (keyof StoreOptions)[] = [
  'codec',
  'schema',
  'timeout',
  'namespace',
  'keepVersions',
  'propagateWithin',
  'hints',
];

/** The greatest `keepVersions`. */
const MOST_VERSIONS = 100;

/** The particulars of a backend. */
export interface StoreBackendKind {
  /** In bytes of UTF-8. @default names of any length */
  readonly longestName?: number | undefined;
  /** The names of the options of its factory, beside those that all have. */
  readonly options: readonly string[];
  /** The clock of `timeout`: a fake one where the backend is simulated. @default the machine's */
  readonly clock?: Pick<Clock, 'setTimeout'> | undefined;
  /** Adds what the client knows of an error that a step has thrown. @default the error as it is */
  readonly explain?: ((error: unknown) => unknown) | undefined;
}

/**
 * Makes a store of a backend: checks requests, limits the time of each step, and turns errors into
 * `StoreUnavailableError`. The store carries what all members that use it share: the limit of concurrent steps and the
 * circuit breaker.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function createStore(backend: StoreBackend, given: StoreOptions, kind: StoreBackendKind): Store {
  const {
    longestName: longest,
    options: names,
    clock,
    explain = (error: unknown) => error,
  } = ownOptions(kind);
  const options = ownOptions(given ?? {});
  const checks = new OptionChecks('store');
  checks.names('', options, [...names, ...COMMON]);
  const { codec, schema, hints } = options;
  if (hints !== undefined) checks.methods('hints', hints, ['connect']);
  if (codec !== undefined) checks.methods('codec', codec, ['encode', 'decode']);
  checks.that(schema === undefined || isSchema(schema), 'schema', SCHEMA_RULE, schema);
  const timeoutMs = checks.finiteDuration('timeout', options?.timeout ?? DEFAULT_TIMEOUT_MS);
  checkNamespace(checks, options?.namespace, longest);
  const { keepVersions = 1 } = options;
  if (backend.history !== undefined) checks.count('keepVersions', keepVersions, MOST_VERSIONS);
  else
    checks.that(keepVersions === 1, 'keepVersions', 'must be 1 for a backend without history', keepVersions);
  const propagateWithinMs = checks.duration('propagateWithin', options?.propagateWithin ?? Infinity);
  checks.done();
  const prefix = namespacePrefix(options?.namespace);
  const longestName = longestWithin(longest, prefix);
  const namespaced = prefix === '' ? backend : namespacedStore(backend, prefix);

  function check(name: string, more: (found: OptionChecks) => void = () => {}): void {
    const found = new OptionChecks(isText(name) ? name : 'store');
    found.name('name', name);
    if (longestName !== undefined && isText(name)) {
      const isShort = new TextEncoder().encode(name).length <= longestName;
      found.that(isShort, 'name', `must be at most ${longestName} bytes long`, name);
    }
    more(found);
    found.done();
  }

  function isVersion(version: number | undefined): boolean {
    return version === undefined || Number.isSafeInteger(version);
  }

  async function ask<R>(name: string, step: () => Promise<R>, limitMs: number = timeoutMs): Promise<R> {
    try {
      return await withTimeout(step, limitMs, clock);
    } catch (thrown) {
      throw errorOf(name, thrown);
    }
  }

  function errorOf(name: string, thrown: unknown): Error {
    if (isOptionError(thrown)) return thrown;
    const cause = explain(thrown);
    const message = cause instanceof Error ? cause.message || cause.name : String(cause);
    return new StoreUnavailableError(`the store is unavailable: ${message}`, { cacheName: name, cause });
  }

  async function askMany<Q extends { readonly name: string }, A>(
    requests: readonly Q[],
    step: (requests: readonly Q[]) => Promise<readonly (A | Error)[]>,
    limitMs: number = timeoutMs,
  ): Promise<(A | Error)[]> {
    distinctNames(
      'store',
      requests.map(({ name }) => name),
    );
    const [first] = requests;
    if (first === undefined) return [];
    const answers = await ask(first.name, () => step(requests), limitMs);
    return answers.map((answer, i) =>
      answer instanceof Error ? errorOf((requests[i] as Q).name, answer) : answer,
    );
  }

  function checkRead({ name, newerThan }: SnapshotRead, version?: number): void {
    check(name, (found) => {
      found.that(isVersion(newerThan), 'newerThan', 'must be a version', newerThan);
      found.that(isVersion(version), 'version', 'must be a version', version);
    });
  }

  function checkWrite({ name, payload, token, rejected, keepFor }: SnapshotWrite): void {
    check(name, (found) => {
      found.that(typeof payload === 'string', 'payload', 'must be a string', payload);
      found.that(isVersion(token) && (token ?? 0) >= 0, 'token', 'must be a token', token);
      found.that(isVersion(rejected), 'rejected', 'must be a version', rejected);
      if (keepFor !== undefined) found.finiteDuration('keepFor', keepFor);
    });
  }

  const { taken, versions, reports } = namespacedReports(namespaced, options?.namespace);

  /** The steps of members: their requests are known to be sound, and they limit the time themselves. */
  const steps: StoreSteps & ManyStoreSteps = {
    codec: codec ?? defaultCodec,
    schema,
    longestName,
    keepVersions,
    propagateWithinMs,
    hints,
    get takesReports() {
      return namespaced.takesReports;
    },
    read: (name, newerThan, version, report) => readOf(namespaced, name, newerThan, version, taken(report)),
    async history(name) {
      if (namespaced.history === undefined) return presentOnly(namespaced, name);
      const versions = await namespaced.history(name);
      return versions.slice(0, keepVersions).map(versionRecord);
    },
    versions,
    reports,
    async write(name, payload, token, rejected, keepFor, report) {
      const args = [name, payload, token, rejected, keepFor] as const;
      const answer = report ? namespaced.write(...args, taken(report)) : namespaced.write(...args);
      return checkAnswer(await answer);
    },
    ...manySteps(namespaced, taken),
  };
  const { readMany, writeMany } = steps;
  const store: Store = {
    codec,
    schema,
    longestName,
    keepVersions,
    get takesReports() {
      return namespaced.takesReports;
    },
    async read(
      name: string,
      newerThan?: number,
      version?: number,
      report?: InstanceReport,
    ): Promise<StoredSnapshot | undefined> {
      checkRead({ name, newerThan }, version);
      checkReport(report);
      const read = await ask(name, () => steps.read(name, newerThan, version, report));
      return read && withDamage(read);
    },
    async history(name) {
      check(name);
      return ask(name, () => steps.history(name));
    },
    async versions(names, report) {
      for (const name of names) check(name);
      distinctNames('store', names);
      checkReport(report);
      return ask(names[0] ?? 'store', async () => allVersions(await steps.versions(names, report)));
    },
    reports: () => ask('store', () => steps.reports()),
    fleet: async () => fleetOf(await store.reports()),
    async write(
      name: string,
      payload: string,
      token?: number,
      rejected?: number,
      keepFor?: number,
      report?: InstanceReport,
    ): Promise<WriteAnswer> {
      checkWrite({ name, payload, token, rejected, keepFor });
      checkReport(report);
      const write = (): Promise<WriteAnswer> => steps.write(name, payload, token, rejected, keepFor, report);
      return ask(name, write, writeTimeoutMs(timeoutMs));
    },
    async delete(name: string): Promise<boolean> {
      check(name);
      return ask(name, () => namespaced.delete(name));
    },
    ...(readMany && {
      async readMany(reads, report) {
        for (const read of reads) checkRead(read);
        checkReport(report);
        const found = await askMany(reads, (all) => readMany(all, report));
        return found.map((read) => (read === undefined || read instanceof Error ? read : withDamage(read)));
      },
    }),
    ...(writeMany && {
      async writeMany(writes, report) {
        writes.forEach(checkWrite);
        checkReport(report);
        return askMany(writes, (all) => writeMany(all, report), writeTimeoutMs(timeoutMs));
      },
    }),
  };
  return withCoordination(store, storeAccess(steps, timeoutMs, explain));
}

/** The longest `instance` of a report, in characters. */
const LONGEST_INSTANCE = 200;

function checkReport(report: InstanceReport | undefined): void {
  if (report === undefined) return;
  const { instance, text, keepFor } = report;
  const found = new OptionChecks('store');
  found.name('instance', instance);
  const isShort = !isText(instance) || instance.length <= LONGEST_INSTANCE;
  found.that(isShort, 'instance', `must be at most ${LONGEST_INSTANCE} characters long`, instance);
  found.name('text', text);
  const isSmall = !isText(text) || bytesOf(text) <= LONGEST_REPORT;
  found.that(
    isSmall,
    'text',
    `must be at most ${LONGEST_REPORT} bytes long`,
    `${String(text).length} characters`,
  );
  found.finiteDuration('keepFor', keepFor);
  found.done();
}

/** A backend that keeps one version may ignore the one that is asked for. */
async function readOf(
  backend: StoreBackend,
  name: string,
  newerThan: number | undefined,
  version: number | undefined,
  report: InstanceReport | undefined,
): Promise<StoredSnapshot | undefined> {
  if (version === undefined && report === undefined) return backend.read(name, newerThan);
  const read = await (report
    ? backend.read(name, newerThan, version, report)
    : backend.read(name, newerThan, version));
  return version === undefined || read?.version === version ? read : undefined;
}

/** The steps for many names, where the backend has them. */
function manySteps(backend: StoreBackend, taken: NamespacedReports['taken']): ManyStoreSteps {
  const { readMany, writeMany } = backend;
  if (readMany === undefined || writeMany === undefined) return {};
  return {
    readMany: (reads, report) => readMany.call(backend, reads, taken(report)),
    writeMany: async (writes, report) => {
      const answers = await writeMany.call(backend, writes, taken(report));
      return answers.map((answer) => {
        if (answer instanceof Error) return answer;
        try {
          return checkAnswer(answer);
        } catch (error) {
          return error as Error;
        }
      });
    },
  };
}

/** @throws {TypeError} for a record that was edited by hand and can't be used. */
function checkAnswer(answer: WriteAnswer): WriteAnswer {
  if (Number.isSafeInteger(answer.version)) return answer;
  throw new TypeError(`its record has the version ${showKey(answer.version)}, which is not a version`);
}
