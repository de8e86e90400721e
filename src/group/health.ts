import { type Backup, backupOf } from '../data/backup.ts';
import { sinceText } from '../engine/backups.ts';
import type { CoordinationProblem } from '../engine/coordinator.ts';
import { type DecisionRules, isRefusedAsFailing, isTooStale, type RunState } from '../engine/decide.ts';
import type { EngineOptions } from '../engine/engine-options.ts';
import type { Entry } from '../engine/entry.ts';
import type { EndlessPlace } from '../engine/load-limit.ts';
import { isTicklessError, reasonOf, showKey } from '../errors.ts';
import { showDuration } from '../time/show-duration.ts';
import { showInstant } from '../time/show-instant.ts';
import type { HealthProblem } from './member.ts';

/** The options that the health of an entry depends on. */
interface HealthRules extends Omit<DecisionRules, 'whenTooStale'> {
  readonly name: string;
  readonly isRequired: boolean;
  /** Reads were refused, and there was no success since: a load that hangs has not failed. */
  readonly isRefusing?: boolean;
  readonly kind?: EngineOptions['kind'];
}

/**
 * The problems of an entry: its reads fail, or its executions do.
 *
 * A problem is fatal if reads fail because of it. A failing reload alone is not fatal, unless `whenFailing` is `throw`:
 * the old value is served, and taking every instance out of service because the source is down would turn that into
 * an outage. Nor is a value that became too old because no read came for a while: the next read reloads it.
 *
 * @param now the monotonic clock in milliseconds, both clocks having been compared.
 */
export function entryHealth(entry: Entry<unknown>, rules: HealthRules, now: number): HealthProblem[] {
  const { isLoaded, isInitial, failures, lastError: error, maxStalenessMs } = entry;
  const { name, isRequired, isRefusing = false, runState } = rules;
  const initial = isInitial ? ', the initial value is served' : '';
  const loading = entry.flight === undefined ? '' : ', is being loaded';
  const why = `${loading}${error === undefined ? '' : `: ${reasonOf(error)}`}`;
  function problem(kind: HealthProblem['kind'], isFatal: boolean, message: string): HealthProblem[] {
    return [{ name, kind, isFatal, message: `${message}${why}`, ...(error === undefined ? {} : { error }) }];
  }

  if (!isLoaded && isRequired) return problem('not-loaded', true, 'is required, and had no success yet');
  if (!isLoaded && isRefusing && failures === 0)
    return problem('not-loaded', false, 'refuses reads, and had no success yet');
  if (isLoaded && isTooStale(entry, now)) {
    const isFatal = failures > 0 || isRefusing || runState !== 'open';
    const age = showDuration(now - entry.loadedAt);
    const what = rules.kind === 'task' ? `had its last success ${age} ago` : `is ${age} old`;
    const next = isFatal || entry.flight !== undefined ? '' : ': the next read starts a load';
    return problem('too-stale', isFatal, `${what}, maxStaleness is ${showDuration(maxStalenessMs)}${next}`);
  }
  const isRefused = isLoaded && isRefusedAsFailing(entry, rules);
  const kind = failureKind(error);
  return failures > 0
    ? problem(kind, isRefused, `failed${failures === 1 ? '' : ` ${failures} times in a row`}${initial}`)
    : [];
}

/** The problem of an entry whose last load failed with that error. */
export function failureKind(error: unknown): 'failing' | 'refused' {
  return isTicklessError(error, 'REFUSED') ? 'refused' : 'failing';
}

/** The problem of values that are served, and that the first source has not made. */
export function backupHealth(
  backups: readonly (Backup & { readonly key?: unknown })[],
  name: string,
): HealthProblem[] {
  const [example] = backups;
  if (example === undefined) return [];
  const { key, text } = example;
  const since = backups.reduce((least, one) => Math.min(least, one.since ?? Infinity), Infinity);
  const count = backups.length === 1 ? 'a key is' : `${backups.length} keys are`;
  const [what, which] = key === undefined ? ['is', ''] : [count, `for example ${showKey(key)} `];
  const message = `${what} served by a backup${sinceText({ since, text })}, ${which}${key === undefined ? '' : 'by '}${text}`;
  return [
    {
      name,
      ...(key === undefined ? {} : { key }),
      kind: 'backup',
      isFatal: false,
      message,
      ...(since < Infinity ? { since } : {}),
    },
  ];
}

/** The backup that has made the value of an entry. */
export function backupsOf({ isLoaded, last }: Entry<unknown>): readonly Backup[] {
  const backup = isLoaded ? backupOf(last?.meta) : undefined;
  return backup === undefined ? [] : [backup];
}

/** The problem of a member that starts no loads. */
export function runStateHealth(runState: RunState, name: string): HealthProblem[] {
  if (runState === 'open') return [];
  return [{ name, kind: runState, isFatal: runState === 'closed', message: `is ${runState}` }];
}

/** How long a load without a deadline may take before it is a problem, in milliseconds: the default of `timeout`. */
const HANGS_AFTER_MS = 30_000;

/** The problem of a member whose loads keep places that no deadline takes back. */
export function hangingHealth({
  loadLimit,
  clock,
  now,
  name,
}: Pick<EngineOptions, 'loadLimit' | 'clock' | 'now' | 'name'>): HealthProblem[] {
  const hasHung = ({ since }: EndlessPlace): boolean => clock.monotonic() - since >= HANGS_AFTER_MS;
  const places = loadLimit?.endless(name).filter(hasHung) ?? [];
  const [first] = places;
  if (loadLimit === undefined || first === undefined) return [];
  const [context] = first.contexts as Iterable<{ readonly key?: unknown }>;
  const key = context?.key;
  const which = key === undefined ? '' : ` of ${showKey(key)}`;
  const since = showInstant(now() - (clock.monotonic() - first.since));
  const taken = `${places.length} of ${loadLimit.narrowest} places (concurrency)`;
  const message = `a load without a deadline${which} is under way since ${since}; such loads keep ${taken} until cancel()`;
  return [{ name, kind: 'hanging', isFatal: false, message, ...(key === undefined ? {} : { key }) }];
}

/** The problem of a backend that can't be asked, one of its lock, its store and its checks. Reads go on, so it is not fatal. */
export function backendHealth(
  problems: readonly CoordinationProblem[] | undefined,
  name: string,
): HealthProblem[] {
  const [first] = problems ?? [];
  if (problems === undefined || first === undefined) return [];
  const { error } = first;
  const kind = first.what === 'checks' ? 'checks-failing' : 'backend-down'; // it comes after those of lock and store
  const forMs = problems.find((problem) => problem.forMs !== undefined)?.forMs;
  const since = forMs === undefined ? '' : `knows no changes of other instances for ${showDuration(forMs)}: `;
  return [{ name, kind, isFatal: false, message: `${since}${reasonOf(error)}`, error }];
}
