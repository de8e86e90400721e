import type { StoreSteps } from '../../src/cluster/backend-steps.ts';
import { withCoordination } from '../../src/cluster/coordination.ts';
import { fleetOf } from '../../src/cluster/fleet.ts';
import { presentOnly } from '../../src/cluster/history.ts';
import type { Signals } from '../../src/cluster/signal-contract.ts';
import { StoreAccess } from '../../src/cluster/store-access.ts';
import type { SnapshotStore, Store } from '../../src/cluster/store-contract.ts';
import { StoreReports } from '../../src/cluster/store-reports.ts';
import { DEFAULT_TIMEOUT_MS } from '../../src/cluster/time-limits.ts';
import { allVersions, versionsOf } from '../../src/cluster/versions-of.ts';
import { OptionChecks, ownOptions } from '../../src/option-checks.ts';
import { defaultCodec } from '../../src/records/store/default-codec.ts';
import type { DurationLike } from '../../src/time/duration.ts';
import { replaceIn } from './replace-in.ts';

export interface WrapStoreOptions {
  readonly timeout?: DurationLike | undefined;
  readonly signals?: Signals | undefined;
}

/**
 * Makes a plain store usable as the store of a backend: adds the limit of concurrent steps and the circuit breaker that all members
 * that use it share.
 *
 * @throws {TicklessError} `OPTION` when the object has no `read` or `write`, or an option breaks a rule.
 */
export function wrapStore(store: SnapshotStore, given: WrapStoreOptions = {}): Store {
  const options = ownOptions(given);
  const checks = new OptionChecks('store');
  const { signals } = options;
  checks.names('', options, ['timeout', 'signals']);
  if (signals !== undefined) checks.methods('signals', signals, ['portOf']);
  const timeoutMs = checks.finiteDuration('timeout', options.timeout ?? DEFAULT_TIMEOUT_MS);
  checks.methods('store', store, ['read', 'write']);
  checks.done();
  const versions: StoreSteps['versions'] = (names, report) => versionsOf(store, names, report);
  const reports: Store['reports'] = async () => store.reports?.() ?? [];
  const { codec, longestName, keepVersions } = store;
  const plain = {
    codec,
    longestName,
    keepVersions,
    read: (...args: Parameters<SnapshotStore['read']>) => store.read(...args),
    write: (...args: Parameters<SnapshotStore['write']>) => store.write(...args),
    replace: replaceIn(store),
    confirm: store.confirm?.bind(store),
    history: async (name: string) => store.history?.(name) ?? presentOnly(store, name),
    reports,
  };
  const wrapped: Store = {
    ...plain,
    delete: (...args: Parameters<SnapshotStore['delete']>) => store.delete(...args),
    versions: async (names, report) => allVersions(await versions(names, report)),
    fleet: async () => fleetOf(await reports()),
  };
  const change: StoreSteps['change'] = (name, text) => store.write(name, text);
  const steps: StoreSteps = { ...plain, change, codec: codec ?? defaultCodec, signals, versions };
  return Object.freeze(
    withCoordination(wrapped, new StoreAccess(steps, new StoreReports({ sharesCommands: false }), timeoutMs)),
  );
}
