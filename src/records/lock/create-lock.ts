import { LONGEST_CONFIRMATION } from '../../cluster/confirmation.ts';
import { withCoordination } from '../../cluster/coordination.ts';
import { randomId, thisHost, thisProcess } from '../../cluster/identity.ts';
import { lockAccess } from '../../cluster/lock-access.ts';
import type {
  AcquireAnswer,
  AcquireRequest,
  LeaseId,
  ListOptions,
  LockProvider,
  LockRecord,
  ReleaseOutcome,
} from '../../cluster/lock-contract.ts';
import { LONGEST_LEASE_MS } from '../../cluster/longest-lease.ts';
import { longestWithin, namespacePrefix } from '../../cluster/namespace.ts';
import { isText, OptionChecks, ownOptions } from '../../option-checks.ts';
import type { ResolvedBackendOptions } from '../backend-options.ts';
import { ByHand } from '../by-hand.ts';
import { joined } from '../joined-records.ts';
import type { MemberRecords } from '../member-records.ts';
import type { Records } from '../records.ts';
import type { RecordsKind } from '../records-kind.ts';
import { RecordStore } from '../store/record-store.ts';
import { RecordLock } from './record-lock.ts';

/** A lock of one of the backends: a {@link LockProvider} that can be used by hand too. */
export interface Lock extends LockProvider {
  /** As of {@link LockProvider}. Only the name is required; the defaults: this process, a new request, `leaseFor`, no force. */
  acquire(request: RequestOfLock): Promise<AcquireAnswer>;
  /** As of {@link LockProvider}. @param leaseFor @default the option `leaseFor` */
  extend(lease: LeaseId, leaseFor?: number): Promise<boolean>;
}

/** A request whose other fields have defaults. */
type RequestOfLock = Pick<AcquireRequest, 'name'> & Partial<AcquireRequest>;

/** A `ReleaseOutcome` of a caller without types. */
interface GivenOutcome {
  readonly as?: string;
  readonly holdFor?: number;
  readonly keepFor?: number | undefined;
  readonly confirms?: string | undefined;
}

/**
 * Makes a lock of records: checks requests, limits the time of each step, and turns errors into `BACKEND_DOWN`. The lock
 * carries what all members that use it share: the limit of concurrent steps and the circuit breaker.
 *
 * @param shared with the store of the backend.
 */
export function createLock(
  records: Records,
  { leaseForMs, timeoutMs, namespace, keepVersions }: ResolvedBackendOptions,
  kind: RecordsKind,
  shared: MemberRecords,
): Lock {
  const prefix = namespacePrefix(namespace);
  const longestName = longestWithin(kind.longestName, prefix);
  // Calls by hand do not wait behind the commands of members.
  const ofHand = joined(records);
  const byHand = new ByHand('lock', { ...kind, longestName }, timeoutMs, ofHand);
  const lock = new CheckedLock(new RecordLock(ofHand ?? records, prefix), byHand, leaseForMs, longestName);
  const runs = new RecordStore(shared.steps, 1, namespace);
  const snapshots = new RecordStore(shared.steps, keepVersions, namespace);
  const steps = Object.assign(new RecordLock(shared.steps, prefix, snapshots), {
    leaseFor: leaseForMs,
    longestName,
    runs,
  });
  return withCoordination(lock, lockAccess(steps, timeoutMs, kind.explain, shared.joined, kind));
}

/** The lock for use by hand. */
class CheckedLock implements Lock {
  readonly leaseFor: number;
  readonly longestName: number | undefined;
  readonly #steps: RecordLock;
  readonly #byHand: ByHand;

  constructor(steps: RecordLock, byHand: ByHand, leaseFor: number, longestName: number | undefined) {
    this.leaseFor = leaseFor;
    this.longestName = longestName;
    this.#steps = steps;
    this.#byHand = byHand;
  }

  async acquire(given: RequestOfLock): Promise<AcquireAnswer> {
    const request: AcquireRequest = {
      owner: thisProcess(),
      requestId: randomId(),
      leaseFor: this.leaseFor,
      host: thisHost(),
      force: false,
      ...given,
    };
    const { name, owner, requestId, host, leaseFor } = request;
    this.#byHand.check(name, (checks) => {
      checks.name('owner', owner);
      checks.name('requestId', requestId);
      checks.that(typeof host === 'string', 'host', 'must be a string', host);
      checks.storable('host', host);
      checks.finiteDuration('leaseFor', leaseFor, LONGEST_LEASE_MS);
    });
    return this.#byHand.ask(name, () => this.#steps.acquire(request));
  }

  async extend(lease: LeaseId, leaseFor: number = this.leaseFor): Promise<boolean> {
    this.#byHand.check(lease.name, (checks) => {
      checks.storable('requestId', lease.requestId);
      checks.finiteDuration('leaseFor', leaseFor, LONGEST_LEASE_MS);
    });
    return this.#byHand.ask(lease.name, () => this.#steps.extend(lease, leaseFor));
  }

  async release(lease: LeaseId, outcome: ReleaseOutcome): Promise<boolean> {
    const { as: ending, holdFor, keepFor, confirms } = ownOptions<GivenOutcome>(outcome ?? {});
    this.#byHand.check(lease.name, (checks) => {
      checks.storable('requestId', lease.requestId);
      checks.oneOf('as', ending, ['done', 'failed', 'abandoned']);
      if (ending !== 'abandoned')
        checks.finiteDurationFromZero('holdFor', holdFor as number, LONGEST_LEASE_MS);
      if (ending === 'done' && keepFor !== undefined) checks.finiteDuration('keepFor', keepFor);
      const isShort = confirms === undefined || (isText(confirms) && confirms.length <= LONGEST_CONFIRMATION);
      checks.that(
        isShort,
        'confirms',
        `must be a text of at most ${LONGEST_CONFIRMATION} characters`,
        confirms,
      );
    });
    return this.#byHand.ask(lease.name, () => this.#steps.release(lease, outcome));
  }

  async inspect(name: string): Promise<LockRecord | undefined> {
    this.#byHand.check(name);
    return this.#byHand.ask(name, () => this.#steps.inspect(name));
  }

  async list(options: ListOptions = {}): Promise<LockRecord[]> {
    const { prefix = '', limit = 1000 } = ownOptions(options);
    const checks = new OptionChecks('lock');
    checks.that(typeof prefix === 'string', 'prefix', 'must be a string', prefix);
    checks.storable('prefix', prefix);
    checks.count('limit', limit);
    checks.done();
    const records = await this.#byHand.ask('lock', () => this.#steps.list(prefix, limit));
    return records.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async forceRelease(name: string, token: number): Promise<boolean> {
    this.#byHand.check(name, (checks) =>
      checks.that(Number.isSafeInteger(token), 'token', 'must be a token', token),
    );
    return this.#byHand.ask(name, () => this.#steps.forceRelease(name, token));
  }
}
