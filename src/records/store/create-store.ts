import { LONGEST_CONFIRMATION } from '../../cluster/confirmation.ts';
import { withCoordination } from '../../cluster/coordination.ts';
import { withDamage } from '../../cluster/damage.ts';
import { fleetOf } from '../../cluster/fleet.ts';
import type { Hints } from '../../cluster/hint-contract.ts';
import { bytesOf } from '../../cluster/history.ts';
import { checkNamespace, longestWithin, namespacePrefix } from '../../cluster/namespace.ts';
import { StoreAccess } from '../../cluster/store-access.ts';
import {
  type Codec,
  type InstanceReport,
  LONGEST_REPORT,
  type Store,
  type StoredSnapshot,
  type WriteAnswer,
} from '../../cluster/store-contract.ts';
import { StoreReports } from '../../cluster/store-reports.ts';
import { DEFAULT_TIMEOUT_MS, writeTimeoutMs } from '../../cluster/time-limits.ts';
import { allVersions } from '../../cluster/versions-of.ts';
import { StoreUnavailableError } from '../../errors.ts';
import { distinctNames, isText, OptionChecks, ownOptions } from '../../option-checks.ts';
import { isSchema, SCHEMA_RULE, type StandardSchema } from '../../schema.ts';
import type { DurationLike } from '../../time/duration.ts';
import { ByHand } from '../by-hand.ts';
import { joined } from '../joined-records.ts';
import type { Records } from '../records.ts';
import type { RecordsKind } from '../records-kind.ts';
import { defaultCodec } from './default-codec.ts';
import { RecordStore } from './record-store.ts';
import { reportingRecords, reportsOf } from './reporting-records.ts';

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
   * deadline, a write until the lease ends, at most for 15 seconds. Calls of these methods by hand reject after this time, and
   * while it answers others after three times as long. @default 1 second
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
   * Notifies other instances of each change that a person or the code makes. An instance then queries the
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
  'hints',
];

/** The greatest `keepVersions`. */
const MOST_VERSIONS = 100;

/**
 * Makes a store of records: checks requests, limits the time of each step, and turns errors into `StoreUnavailableError`. The
 * store carries what all members that use it share: the limit of concurrent steps, the circuit breaker, and the reports of this
 * instance.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function createStore(records: Records, given: StoreOptions, kind: RecordsKind): Store {
  const options = ownOptions(given ?? {});
  const checks = new OptionChecks('store');
  checks.names('', options, [...kind.options, ...COMMON]);
  const { codec, schema, hints, namespace, keepVersions = 1 } = options;
  if (hints !== undefined) checks.methods('hints', hints, ['connect']);
  if (codec !== undefined) checks.methods('codec', codec, ['encode', 'decode']);
  checks.that(schema === undefined || isSchema(schema), 'schema', SCHEMA_RULE, schema);
  const timeoutMs = checks.finiteDuration('timeout', options.timeout ?? DEFAULT_TIMEOUT_MS);
  checkNamespace(checks, namespace, kind.longestName);
  checks.count('keepVersions', keepVersions, MOST_VERSIONS);
  checks.done();
  const longestName = longestWithin(kind.longestName, namespacePrefix(namespace));
  const reports = new StoreReports(records);
  const reporting = reportingRecords(records, reports, reportsOf(namespace));
  // Calls by hand do not wait behind the commands of members, and carry no report.
  const [ofMembers, ofHand] = [joined(reporting), joined(records)];
  const steps = new RecordStore(ofHand ?? records, keepVersions, namespace);
  const memberSteps = Object.assign(new RecordStore(ofMembers ?? reporting, keepVersions, namespace), {
    ...{ codec: codec ?? defaultCodec, schema, longestName, keepVersions, hints },
  });
  const unavailable = (...told: ConstructorParameters<typeof StoreUnavailableError>): Error =>
    new StoreUnavailableError(...told);
  const byHand = new ByHand('store', { ...kind, longestName }, timeoutMs, unavailable, ofHand);
  const store: Store = {
    codec,
    schema,
    longestName,
    keepVersions,
    async read(name: string, newerThan?: number, version?: number): Promise<StoredSnapshot | undefined> {
      byHand.check(name, (found) => {
        found.that(isVersion(newerThan), 'newerThan', 'must be a version', newerThan);
        found.that(isVersion(version), 'version', 'must be a version', version);
      });
      const read = await byHand.ask(name, () => steps.read(name, newerThan, version));
      return read && withDamage(read);
    },
    async history(name) {
      byHand.check(name);
      return byHand.ask(name, () => steps.history(name));
    },
    async versions(names, given) {
      for (const name of names) byHand.check(name);
      distinctNames('store', names);
      const report = ownOptions(given);
      checkReport(report);
      return byHand.ask(names[0] ?? 'store', async () => allVersions(await steps.versions(names, report)));
    },
    reports: () => byHand.ask('store', () => steps.reports()),
    fleet: async () => fleetOf(await store.reports()),
    async write(
      name: string,
      payload: string,
      token?: number,
      rejected?: number,
      keepFor?: number,
    ): Promise<WriteAnswer> {
      byHand.check(name, (found) => {
        found.that(typeof payload === 'string', 'payload', 'must be a string', payload);
        found.that(isVersion(token) && (token ?? 0) >= 0, 'token', 'must be a token', token);
        found.that(isVersion(rejected), 'rejected', 'must be a version', rejected);
        if (keepFor !== undefined) found.finiteDuration('keepFor', keepFor);
      });
      const write = (): Promise<WriteAnswer> => steps.write(name, payload, token, rejected, keepFor);
      return byHand.ask(name, write, writeTimeoutMs(timeoutMs));
    },
    async confirm(name: string, version: number, text: string): Promise<WriteAnswer> {
      byHand.check(name, (found) => {
        found.that(Number.isSafeInteger(version), 'version', 'must be a version', version);
        const isShort = isText(text) && text.length <= LONGEST_CONFIRMATION;
        found.that(isShort, 'text', `must be a text of at most ${LONGEST_CONFIRMATION} characters`, text);
        found.storable('text', text);
      });
      return byHand.ask(name, () => steps.confirm(name, version, text), writeTimeoutMs(timeoutMs));
    },
    async delete(name: string): Promise<boolean> {
      byHand.check(name);
      return byHand.ask(name, () => steps.delete(name));
    },
  };
  return withCoordination(
    store,
    new StoreAccess(memberSteps, reports, timeoutMs, kind.explain, ofMembers, kind),
  );
}

function isVersion(version: number | undefined): boolean {
  return version === undefined || Number.isSafeInteger(version);
}

/** The longest `instance` of a report, in characters. */
const LONGEST_INSTANCE = 200;

function checkReport(report: InstanceReport | undefined): void {
  if (report === undefined) return;
  const { instance, text, keepFor, serial } = report;
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
  found.that(isVersion(serial) && (serial ?? 0) >= 0, 'serial', 'must be a whole number from 0', serial);
  found.done();
}
