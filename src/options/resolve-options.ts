import type { LockProvider } from '../cluster/lock-contract.ts';
import { ServerClock } from '../cluster/server-clock.ts';
import type { SnapshotStore } from '../cluster/store-contract.ts';
import type { CoolDown } from '../engine/cool-down.ts';
import type { WhenClosed, WhenTooStale } from '../engine/decide.ts';
import type { RetryOptions } from '../engine/retry.ts';
import type { GroupHandle } from '../group/membership.ts';
import { SafeLogger } from '../observe/logger.ts';
import { isNumber, OptionChecks } from '../option-checks.ts';
import type { Schedule, ScheduleLike } from '../schedule/schedule.ts';
import { toSchedule } from '../schedule/to-schedule.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { type DurationLike, toMillis } from '../time/duration.ts';
import { checkRetry, resolveCoolDown } from './failure-options.ts';
import {
  defaults,
  type SingleSharedOptions,
  type ValueSharedOptions,
  type WaitUntil,
  type WhenLockUnavailable,
} from './shared-options.ts';

/** The options with nothing optional left, durations in milliseconds. Frozen. */
export interface ResolvedOptions {
  readonly name: string;
  readonly schedule: Schedule;
  /** The schedule, where it is a duration, in milliseconds; else NaN. */
  readonly periodMs: number;
  readonly retry: RetryOptions | undefined;
  readonly coolDown: CoolDown;
  readonly timeoutMs: number;
  readonly maxStalenessMs: number;
  readonly whenTooStale: WhenTooStale;
  readonly whenClosed: WhenClosed;
  readonly allowUndefined: boolean;
  /** It is one key of many. */
  readonly isKeyed: boolean;
  /** How long a key stays absent. */
  readonly absentForMs: number;
  readonly waitUntil: WaitUntil | undefined;
  readonly logger: SafeLogger;
  readonly clock: Clock;
  readonly random: () => number;
  readonly family: GroupHandle | undefined;
  readonly isRequired: boolean;
  readonly lock: LockProvider | undefined;
  readonly store: SnapshotStore | undefined;
  readonly whenLockUnavailable: WhenLockUnavailable;
  /** It is no task. */
  readonly holdsValue: boolean;
}

/** The names of the options that all members have in common. */
export const SHARED: readonly (keyof AnyOptions)[] = [
  'name',
  'schedule',
  'retry',
  'coolDown',
  'timeout',
  'waitUntil',
  'logger',
  'clock',
  'random',
  'group',
  'lock',
  'whenLockUnavailable',
];

/** The names of the options that all have in common that hold values. */
export const VALUE_SHARED: readonly (keyof AnyOptions)[] = [
  ...SHARED,
  'maxStaleness',
  'whenTooStale',
  'whenClosed',
  'store',
];

/** All options that are resolved here; those that a member does not have are missing. */
type AnyOptions = ValueSharedOptions &
  SingleSharedOptions & {
    readonly allowUndefined?: boolean | undefined;
    readonly absentFor?: DurationLike | undefined;
  };

/** What is particular to a kind of member. */
export interface MemberKind {
  /** The names of its options, here and of its own. */
  readonly names: readonly string[];
  /** Checks the options of its own. */
  readonly check: (checks: OptionChecks) => void;
}

/**
 * Checks all options together and fills in the defaults: those of the group, then those of tickless.
 *
 * @throws {OptionError} with every rule that is broken.
 */
export function resolveOptions(own: AnyOptions, kind: MemberKind): ResolvedOptions {
  const group = own?.group?.family;
  const given = { ...pick(group?.defaults, kind.names), ...pick(own, kind.names) } as AnyOptions;
  const {
    name,
    schedule: scheduleLike = defaults.schedule,
    retry,
    coolDown: coolDownLike,
    timeout = defaults.timeout,
    maxStaleness = defaults.maxStaleness,
    whenTooStale = defaults.whenTooStale,
    whenClosed = defaults.whenClosed,
    allowUndefined = false,
    absentFor = defaults.absentFor,
    required = false,
    waitUntil,
    logger = console,
    clock = systemClock,
    random = Math.random,
    lock,
    store,
  } = given as Partial<AnyOptions>;
  const isNamed = typeof name === 'string' && name !== '';
  const checks = new OptionChecks(isNamed ? name : 'tickless');

  checks.names('', own ?? {}, kind.names);
  checks.that(isNamed, 'name', 'must be a string that is not empty', name);
  kind.check(checks);
  const schedule = toSchedule(scheduleLike);
  checks.that(schedule !== undefined, 'schedule', A_SCHEDULE, scheduleLike);
  if (retry !== undefined) checkRetry(retry, checks);
  const coolDown = resolveCoolDown(coolDownLike, checks);
  const timeoutMs = checks.duration('timeout', timeout);
  const maxStalenessMs = checks.duration('maxStaleness', maxStaleness);
  // Only what was given: the default schedule contradicts nobody, and is cut short by the age limit.
  const givenPeriodMs = toMillis(given.schedule as DurationLike);
  const isLongEnough = !(maxStalenessMs < givenPeriodMs && givenPeriodMs < Infinity);
  const noShorter = `must not be shorter than the schedule of ${givenPeriodMs} ms`;
  checks.that(isLongEnough, 'maxStaleness', noShorter, maxStaleness);
  checks.oneOf('whenTooStale', whenTooStale, ['wait', 'throw', 'serve']);
  checks.oneOf('whenClosed', whenClosed, ['serve', 'throw']);
  checks.oneOf('allowUndefined', allowUndefined, [true, false]);
  const absentForMs = checks.durationFromZero('absentFor', absentFor);
  checks.oneOf('required', required, [true, false]);
  checks.that(!(required && group === undefined), 'required', 'must not be given without a group', required);
  const isGroup = given.group === undefined || group !== undefined;
  checks.that(isGroup, 'group', 'must be a RefreshGroup', given.group);
  if (waitUntil !== undefined) checks.function('waitUntil', waitUntil);
  if (logger !== false) checks.methods('logger', logger, ['warn', 'error']);
  checks.methods('clock', clock, ['now', 'monotonic', 'setTimeout']);
  checks.function('random', random);
  const isKeyed = kind.names.includes('absentFor');
  const holdsValue = kind.names.includes('maxStaleness');
  const whenLockUnavailable = given.whenLockUnavailable ?? (holdsValue ? 'load' : 'skip');
  checks.oneOf('whenLockUnavailable', whenLockUnavailable, ['load', 'skip']);
  if (lock !== undefined) {
    checks.methods('lock', lock, ['acquire', 'extend', 'release']);
    const isLease = isNumber(lock?.leaseFor, Number.MIN_VALUE, Number.MAX_VALUE);
    checks.that(isLease, 'lock', 'must have a number of milliseconds as leaseFor', lock?.leaseFor);
  }
  if (store !== undefined) checks.methods('store', store, ['read', 'write']);
  for (const engine of [lock, store]) {
    const longest = engine?.longestName ?? Infinity;
    const isShort = !isNamed || isKeyed || new TextEncoder().encode(name).length <= longest;
    checks.that(isShort, 'name', `must be at most ${longest} bytes long`, name);
  }
  checks.done();

  const safeLogger = new SafeLogger(name as string, logger);
  return Object.freeze({
    name: name as string,
    schedule: schedule as Schedule,
    periodMs: toMillis(scheduleLike as DurationLike),
    retry,
    coolDown,
    timeoutMs,
    maxStalenessMs,
    whenTooStale,
    whenClosed,
    allowUndefined,
    isKeyed,
    holdsValue,
    lock,
    store,
    whenLockUnavailable,
    absentForMs,
    waitUntil,
    logger: safeLogger,
    clock: lock === undefined ? clock : new ServerClock(clock),
    random: guarded(random, safeLogger),
    family: group,
    isRequired: required,
  });
}

/** Those of the options that have a value: `undefined` is as good as not given. */
function pick(given: object | undefined, names: readonly string[]): object {
  const values = names.map((name) => [name, (given as Record<string, unknown> | undefined)?.[name]] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/**
 * Checks a duration given to a method.
 *
 * @throws {OptionError} when it is none, or under 0.
 */
export function durationArgument(cacheName: string, option: string, received: DurationLike): number {
  const checks = new OptionChecks(cacheName);
  const ms = toMillis(received);
  checks.that(ms >= 0, option, 'must be a duration of 0 or more', received);
  checks.done();
  return ms;
}

/**
 * Checks a signal given to a method.
 *
 * @throws {OptionError} when it is given and none.
 */
export function signalArgument(cacheName: string, received: AbortSignal | undefined): void {
  const checks = new OptionChecks(cacheName);
  if (received !== undefined) checks.methods('signal', received, ['addEventListener', 'throwIfAborted']);
  checks.done();
}

/**
 * Checks a schedule given to a method.
 *
 * @throws {OptionError} when it is none.
 */
export function scheduleArgument(cacheName: string, received: ScheduleLike): Schedule {
  const checks = new OptionChecks(cacheName);
  const schedule = toSchedule(received);
  checks.that(schedule !== undefined, 'schedule', A_SCHEDULE, received);
  checks.done();
  return schedule as Schedule;
}

const A_SCHEDULE = 'must be a schedule, a function, or a duration over 0';

/** A source of randomness that can't break a cool-down: what it gives that is none is told, and made up for. */
function guarded(random: () => number, logger: SafeLogger): () => number {
  return () => {
    try {
      const number: unknown = random();
      if (isNumber(number, 0, 1) && number !== 1) return number as number;
      logger.error('random must answer with a number from 0 to below 1', number);
    } catch (error) {
      logger.error('random threw', error);
    }
    return Math.random();
  };
}
