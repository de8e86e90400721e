import { LONGEST_LEASE_MS } from '../cluster/longest-lease.ts';
import { checkNamespace } from '../cluster/namespace.ts';
import type { Signals } from '../cluster/signal-contract.ts';
import type { Codec } from '../cluster/store-contract.ts';
import { DEFAULT_TIMEOUT_MS } from '../cluster/time-limits.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import type { RecordsKind } from './records-kind.ts';

/** The options of all backends. */
export interface BackendOptions {
  /**
   * How long a lease lasts unless it is extended, which happens at each third of it while a load runs. After a crash of
   * the holder the other instances wait at most this long. Over 0, at most 365 days ({@link LONGEST_LEASE_MS}).
   * @default 30 seconds
   */
  readonly leaseFor?: DurationLike | undefined;
  /**
   * How long the backend may be silent, that is, answer no step at all, however long its client would wait, the client's own
   * queue included; then it counts as unavailable. Three times as long for a write; for a read at most a quarter of the
   * deadline of the load. Over 0, finite. While it answers others, a step is waited for until half of what is left of that
   * deadline, a write until the lease ends, at most for 15 seconds. @default 1 second
   */
  readonly timeout?: DurationLike | undefined;
  /**
   * Separates services that share the server: all names begin with `namespace/` there. No two namespaces and names share a record,
   * whatever slashes they have. Not empty. @default undefined: none
   */
  readonly namespace?: string | undefined;
  /**
   * Encodes values as text or bytes, and decodes them. @default JSON, or devalue for what JSON would change: `Map`, `Set`,
   * `Date`, `BigInt`, typed arrays, `undefined`, `NaN`. Functions and instances of your classes are rejected. A value of more
   * than some 30,000 objects and primitive values (8,000 where JSON would change it) is encoded and decoded in parts of about a
   * millisecond, and the event loop runs between them: do not change it after the load
   */
  readonly codec?: Codec | undefined;
  /**
   * How many versions of each value are kept: the present one and those before it, which `history` lists and `rollback` returns to. They
   * are kept as long as the record of their name is. Give instances that share the backend the same number: each write leaves as many
   * as its own backend object keeps. 1 to 100. @default 1: the present one only, at no cost
   */
  readonly keepVersions?: number | undefined;
  /**
   * Notifies other instances of each change that a person or the code makes. An instance then queries the
   * backend at its next read, delayed by up to 5 ms per instance beyond ten. Made by `createSignals`.
   * They may keep a connection open. @default none: they query within `propagateWithin`
   */
  readonly signals?: Signals | undefined;
}

/** The options with nothing left to check. */
export interface ResolvedBackendOptions {
  readonly leaseForMs: number;
  readonly timeoutMs: number;
  readonly namespace: string | undefined;
  readonly codec: Codec | undefined;
  readonly keepVersions: number;
  readonly signals: Signals | undefined;
}

const NAMES: readonly (keyof BackendOptions)[] = [
  'leaseFor',
  'timeout',
  'namespace',
  'codec',
  'keepVersions',
  'signals',
];

/** The greatest `keepVersions`. */
const MOST_VERSIONS = 100;

/** @throws {TicklessError} `OPTION` naming every option that breaks a rule. */
export function resolveBackendOptions(
  given: BackendOptions,
  kind: Pick<RecordsKind, 'longestName' | 'options'>,
): ResolvedBackendOptions {
  const options = ownOptions(given ?? {});
  const checks = new OptionChecks('backend');
  checks.names('', options, [...kind.options, ...NAMES]);
  const { codec, signals, namespace, keepVersions = 1 } = options;
  const leaseForMs = checks.finiteDuration('leaseFor', options.leaseFor ?? 30_000, LONGEST_LEASE_MS);
  const timeoutMs = checks.finiteDuration('timeout', options.timeout ?? DEFAULT_TIMEOUT_MS);
  checkNamespace(checks, namespace, kind.longestName);
  if (codec !== undefined) checks.methods('codec', codec, ['encode', 'decode']);
  checks.count('keepVersions', keepVersions, MOST_VERSIONS);
  if (signals !== undefined) checks.methods('signals', signals, ['portOf']);
  checks.done();
  return { leaseForMs, timeoutMs, namespace, codec, keepVersions, signals };
}
