import { LONGEST_CONFIRMATION } from '../../cluster/confirmation.ts';
import { withCoordination } from '../../cluster/coordination.ts';
import { withDamage } from '../../cluster/damage.ts';
import { fleetOf } from '../../cluster/fleet.ts';
import { bytesOf } from '../../cluster/history.ts';
import { longestWithin, namespacePrefix } from '../../cluster/namespace.ts';
import { StoreAccess } from '../../cluster/store-access.ts';
import {
  type InstanceReport,
  LONGEST_REPORT,
  type Store,
  type StoredSnapshot,
  type WriteAnswer,
} from '../../cluster/store-contract.ts';
import { writeTimeoutMs } from '../../cluster/time-limits.ts';
import { distinctNames, isText, OptionChecks, ownOptions } from '../../option-checks.ts';
import type { ResolvedBackendOptions } from '../backend-options.ts';
import { ByHand } from '../by-hand.ts';
import { joined } from '../joined-records.ts';
import type { MemberRecords } from '../member-records.ts';
import type { Records } from '../records.ts';
import type { RecordsKind } from '../records-kind.ts';
import { defaultCodec } from './default-codec.ts';
import { RecordStore } from './record-store.ts';

/**
 * Makes a store of records: checks requests, limits the time of each step, and turns errors into `BACKEND_DOWN`. The
 * store carries what all members that use it share: the limit of concurrent steps, the circuit breaker, and the reports of this
 * instance.
 *
 * @param shared with the lock of the backend.
 */
export function createStore(
  records: Records,
  { timeoutMs, namespace, codec, keepVersions, signals }: ResolvedBackendOptions,
  kind: RecordsKind,
  shared: MemberRecords,
): Store {
  const longestName = longestWithin(kind.longestName, namespacePrefix(namespace));
  // Calls by hand do not wait behind the commands of members, and carry no report.
  const ofHand = joined(records);
  const steps = new RecordStore(ofHand ?? records, keepVersions, namespace);
  const memberSteps = Object.assign(new RecordStore(shared.steps, keepVersions, namespace), {
    ...{ codec: codec ?? defaultCodec, longestName, keepVersions, signals },
  });
  const byHand = new ByHand('store', { ...kind, longestName }, timeoutMs, ofHand);
  const store: Store = {
    codec,
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
    new StoreAccess(memberSteps, shared.reports, timeoutMs, kind.explain, shared.joined, kind),
  );
}

/** @throws the first error among them. */
function allVersions(found: readonly (number | Error)[]): readonly number[] {
  return found.map((version) => {
    if (version instanceof Error) throw version;
    return version;
  });
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
