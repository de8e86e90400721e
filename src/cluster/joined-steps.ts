import { BackendAccess } from './backend-access.ts';
import type { LockSteps, ManyLockSteps, ManyStoreSteps, StoreSteps } from './backend-steps.ts';
import { CommandPlaces } from './command-places.ts';
import type { AcquireRequest, LeaseExtension, LeaseRelease } from './lock-contract.ts';
import { reportingSteps } from './reporting-steps.ts';
import { StepJoiner } from './step-joiner.ts';
import { StoreAccess } from './store-access.ts';
import type { SnapshotRead, SnapshotWrite } from './store-contract.ts';
import { StoreReports } from './store-reports.ts';

/** Those of a lock and of a store are fewer than a pool has connections, or they would wait there, where no step joins them. */
const MAX_CONCURRENT_COMMANDS = 4;

type All<S> = { readonly [P in keyof S]-?: NonNullable<S[P]> };
type ForManyNames = ManyLockSteps & All<Pick<ManyLockSteps, 'acquireMany' | 'releaseMany'>>;

/**
 * The access of all members to a lock. Where the lock has steps for many names, the steps of keys are joined: then the
 * limit of concurrent steps is one of commands.
 */
export function lockAccess(
  steps: LockSteps & ManyLockSteps,
  limitMs: number,
  explain?: (error: unknown) => unknown,
): BackendAccess<LockSteps> {
  const singly: LockSteps = {
    leaseFor: steps.leaseFor,
    longestName: steps.longestName,
    acquire: (request) => steps.acquire(request),
    extend: (lease, leaseFor) => access.runUrgent(() => steps.extend(lease, leaseFor)),
    release: (lease, outcome) => steps.release(lease, outcome),
    warning: async () => steps.warning?.(),
  };
  const access = new BackendAccess(singly, limitMs, explain);
  if (!isForManyNames(steps)) return access;
  const commands = new CommandPlaces(MAX_CONCURRENT_COMMANDS);
  const acquires = new StepJoiner(
    {
      one: (request: AcquireRequest) => steps.acquire(request),
      many: (requests) => steps.acquireMany(requests),
      nameOf: ({ name }) => name,
    },
    commands,
  );
  const releases = new StepJoiner(
    {
      one: ({ lease, outcome }: LeaseRelease) => steps.release(lease, outcome),
      many: (ends) => steps.releaseMany(ends),
      nameOf: ({ lease }) => lease.name,
    },
    commands,
  );
  const urgent: Pick<CommandPlaces, 'run'> = { run: (command) => commands.runUrgent(command) };
  const { extendMany } = steps;
  const extensions =
    extendMany &&
    new StepJoiner(
      {
        one: ({ lease, leaseFor }: LeaseExtension) => steps.extend(lease, leaseFor),
        many: (some) => extendMany.call(steps, some),
        nameOf: ({ lease }) => lease.name,
      },
      urgent,
    );
  const joined: LockSteps = {
    ...singly,
    acquire: (request) => acquires.ask(request),
    extend: (lease, leaseFor) =>
      extensions?.ask({ lease, leaseFor }) ?? urgent.run(() => steps.extend(lease, leaseFor)),
    release: (lease, outcome) => releases.ask({ lease, outcome }),
  };
  return new BackendAccess(joined, limitMs, explain, Number.POSITIVE_INFINITY, () => commands.silent());
}

/** As {@link lockAccess}, of a store. */
export function storeAccess(
  plain: StoreSteps & ManyStoreSteps,
  limitMs: number,
  explain?: (error: unknown) => unknown,
): StoreAccess {
  const reports = new StoreReports(plain);
  const steps = reportingSteps(plain, reports);
  if (!isForManySnapshots(steps)) return new StoreAccess(steps, reports, limitMs, explain);
  const commands = new CommandPlaces(MAX_CONCURRENT_COMMANDS);
  const reads = new StepJoiner(
    {
      one: ({ name, newerThan }: SnapshotRead) => steps.read(name, newerThan),
      many: (requests) => steps.readMany(requests),
      nameOf: ({ name }) => name,
    },
    commands,
  );
  const writes = new StepJoiner(
    {
      one: ({ name, payload, token, rejected, keepFor }: SnapshotWrite) =>
        steps.write(name, payload, token, rejected, keepFor),
      many: (requests) => steps.writeMany(requests),
      nameOf: ({ name }) => name,
      sizeOf: ({ payload }) => payload.length,
    },
    commands,
  );
  const joined: StoreSteps = {
    ...steps,
    read: (name, newerThan, version) =>
      version === undefined
        ? reads.ask({ name, newerThan })
        : commands.run(() => steps.read(name, newerThan, version)),
    history: (name) => commands.run(() => steps.history(name)),
    versions: (names, report) => commands.run(() => steps.versions(names, report)),
    reports: () => commands.run(() => steps.reports()),
    write: (name, payload, token, rejected, keepFor) =>
      writes.ask({ name, payload, token, rejected, keepFor }),
  };
  return new StoreAccess(joined, reports, limitMs, explain, Number.POSITIVE_INFINITY, () =>
    commands.silent(),
  );
}

function isForManyNames(steps: LockSteps & ManyLockSteps): steps is LockSteps & ForManyNames {
  return steps.acquireMany !== undefined && steps.releaseMany !== undefined;
}

function isForManySnapshots(steps: StoreSteps & ManyStoreSteps): steps is StoreSteps & All<ManyStoreSteps> {
  return steps.readMany !== undefined && steps.writeMany !== undefined;
}
