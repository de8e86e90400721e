import { ownIdOf } from '../data/id-of.ts';
import {
  BACKEND_RULE,
  type BackendParts,
  isBackend,
  isLock,
  LOCK_RULE,
  NO_PARTS,
  partsOf,
} from '../engine/backend.ts';
import { coordinationKey } from '../engine/coordination-key.ts';
import type { Membership } from '../engine/coordinator.ts';
import type { EngineOptions } from '../engine/engine-options.ts';
import type { Accept } from '../guard/accept.ts';
import { type AnyGuardOptions, checkGuardOptions } from '../guard/guard-options.ts';
import { isUnchangedBy } from '../guard/guarded-load.ts';
import { SafeLogger } from '../observe/logger.ts';
import { isNumber, isText, OptionChecks, ownOptions } from '../option-checks.ts';
import type { Schedule } from '../schedule/schedule.ts';
import { scheduleRule, toSchedule } from '../schedule/to-schedule.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { ignoreThenable } from '../time/deferred.ts';
import { type DurationLike, toMillis } from '../time/duration.ts';
import { showDuration } from '../time/show-duration.ts';
import { steadyClock } from '../time/steady-clock.ts';
import { defaults } from './defaults.ts';
import { resolveCoolDown, resolveRetry } from './failure-options.ts';
import type { GroupHandle } from './group-handle.ts';
import type { SingleSharedOptions, ValueSharedOptions } from './shared-options.ts';

/** The resolved options of a member, with those for its constructor and its group. */
export interface MemberOptions extends EngineOptions, BackendParts {
  /** The guard of loaded values. */
  readonly accept: Accept<never> | undefined;
  /** Loaded values are compared by deep equality. */
  readonly isDeep: boolean;
  readonly group: GroupHandle | undefined;
  readonly isRequired: boolean;
}

/** The names of the options that all members share. */
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
  'backend',
  'lock',
  'propagateWithin',
  'whenBackendDown',
];

/** The names of the options that values and caches share. */
export const VALUE_SHARED: readonly (keyof AnyOptions)[] = [
  ...SHARED,
  'maxStaleness',
  'whenTooStale',
  'whenFailing',
];

/** All options that are resolved here; a member may not have all of them. */
type AnyOptions = ValueSharedOptions &
  AnyGuardOptions &
  SingleSharedOptions & {
    readonly absentFor?: DurationLike | undefined;
  };

/** The options that only one kind of member has. */
export interface MemberSpec {
  readonly kind: EngineOptions['kind'];
  /** The names of its options: the shared ones and its own. */
  readonly names: readonly string[];
  /** Checks its own options. */
  readonly check: (checks: OptionChecks) => void;
  /** Names of options that it does not take from its group, where they are about values. */
  readonly ownOnly?: readonly string[];
  /** It is a group: its options are defaults of members, which may add others. */
  readonly givesDefaults?: boolean;
}

/**
 * Checks all options together and fills in the defaults: those of the group, then those of tickless.
 *
 * @throws {TicklessError} `OPTION` with every rule that is broken.
 */
export function resolveOptions(
  options: AnyOptions,
  { kind, names, check, ownOnly = [], givesDefaults = false }: MemberSpec,
): MemberOptions {
  const own = ownOptions(options);
  const group = own?.group?.handle;
  const [backend, ownLock] = [own?.backend, own?.lock];
  const joinsGroup = backend === 'group';
  const ofGroup = partsOf(group?.defaults.backend, group?.defaults.lock);
  const ownParts = partsOf(joinsGroup ? undefined : backend, ownLock);
  // A cache takes those of its group only where it says so.
  const { lock, store } = ownParts ?? (kind === 'key' && !joinsGroup ? undefined : ofGroup) ?? NO_PARTS;
  const inherited = names.filter((option) => !ownOnly.includes(option));
  const picked = { ...pick(group?.defaults, inherited), ...pick(own, names) } as AnyOptions;
  const given = ownOptions(picked);
  const {
    name,
    schedule: scheduleLike = defaults.schedule,
    retry: retryLike,
    coolDown: coolDownLike,
    timeout = defaults.timeout,
    maxStaleness = defaults.maxStaleness,
    whenTooStale = defaults.whenTooStale,
    whenFailing = defaults.whenFailing,
    absentFor = defaults.absentFor,
    required = false,
    schema,
    accept,
    unchanged,
    waitUntil,
    logger = console,
    clock: givenClock = systemClock,
    random = Math.random,
    propagateWithin = defaults.propagateWithin,
    whenBackendDown = kind === 'task' ? 'skip' : 'load',
  } = given as Partial<AnyOptions>;
  const isNamed = isText(name);
  const checks = new OptionChecks(isNamed ? name : 'tickless');

  checks.names('', own ?? {}, names);
  checks.name('name', name);
  check(checks);
  const schedule = toSchedule(scheduleLike);
  checks.that(schedule !== undefined, 'schedule', scheduleRule(scheduleLike), scheduleLike);
  const retry = resolveRetry(retryLike, checks);
  const periodMs = toMillis(scheduleLike as DurationLike);
  const coolDown = resolveCoolDown(coolDownLike, periodMs, checks);
  const timeoutMs = checks.duration('timeout', timeout);
  const maxStalenessMs = checks.duration('maxStaleness', maxStaleness);
  // Members of a group without a schedule may have schedules of their own.
  const isPeriodKnown = given.schedule !== undefined || !givesDefaults;
  const leavesNoRoom = isPeriodKnown && maxStalenessMs <= periodMs && periodMs < Infinity;
  const whose = given.schedule === undefined ? 'default schedule' : 'schedule';
  const longer = `must be longer than the ${whose} of ${showDuration(periodMs)}`;
  checks.that(!(leavesNoRoom && maxStalenessMs > 0), 'maxStaleness', longer, maxStaleness);
  checks.oneOf('whenTooStale', whenTooStale, ['wait', 'throw']);
  checks.oneOf('whenFailing', whenFailing, ['serve', 'throw']);
  const absentForMs = checks.durationFromZero('absentFor', absentFor);
  checks.oneOf('required', required, [true, false]);
  checks.that(!(required && group === undefined), 'required', 'must not be given without a group', required);
  const isGroup = given.group === undefined || group !== undefined;
  checks.that(isGroup, 'group', 'must be a RefreshGroup', given.group);
  if (waitUntil !== undefined) checks.function('waitUntil', waitUntil);
  if (logger !== false) checks.methods('logger', logger, ['warn', 'error']);
  checkClock(givenClock, checks);
  checks.function('random', random);
  checks.oneOf('whenBackendDown', whenBackendDown, ['load', 'skip']);
  const isKnown = backend === undefined || backend === false || joinsGroup || isBackend(backend);
  checks.that(isKnown && !(joinsGroup && givesDefaults), 'backend', `${BACKEND_RULE}, or false`, backend);
  const isJoinable = !joinsGroup || givesDefaults || (ofGroup?.lock ?? ofGroup?.store) !== undefined;
  checks.that(isJoinable, 'backend', 'must be a backend: its group, if there is one, has none', backend);
  checks.that(ownLock === undefined || isLock(ownLock), 'lock', LOCK_RULE, ownLock);
  const isAlone = ownLock === undefined || backend === undefined || backend === false;
  checks.that(isAlone, 'lock', 'must not be given beside a backend, which has one', ownLock);
  const propagateWithinMs = checks.finiteDuration('propagateWithin', propagateWithin);
  const canCheck = own?.propagateWithin === undefined || store !== undefined || givesDefaults;
  checks.that(canCheck, 'propagateWithin', 'must not be given without a backend', propagateWithin);
  for (const part of [lock, kind === 'task' ? undefined : store]) {
    const longest = part?.longestName ?? Infinity;
    const isShort = !isNamed || kind === 'key' || new TextEncoder().encode(name).length <= longest;
    checks.that(isShort, 'name', `must be at most ${longest} bytes long`, name);
  }
  checkGuardOptions({ schema, accept, unchanged }, checks);
  checks.done();

  const safeLogger = new SafeLogger(name as string, logger);
  const clock = steadyClock(givenClock, (error) => safeLogger.fault('clock threw, replaced', error));
  const membership: Membership | undefined = (lock ?? store)?.[coordinationKey]?.join({ lock, store, clock });
  return Object.freeze({
    name: name as string,
    kind,
    schedule: schedule as Schedule,
    periodMs,
    ...retry,
    coolDown,
    timeoutMs,
    maxStalenessMs,
    whenTooStale,
    whenFailing,
    schema,
    accept,
    idOf: ownIdOf(accept) ?? ownIdOf((own as { readonly load?: unknown } | undefined)?.load),
    isUnchanged: isUnchangedBy(unchanged),
    isDeep: unchanged === 'deep',
    absentForMs,
    propagateWithinMs,
    waitUntil,
    logger: safeLogger,
    clock,
    now: membership?.now ?? clock.now,
    random: guarded(random, safeLogger),
    whenBackendDown,
    lock,
    store,
    membership,
    loadLimit: group?.loadLimit,
    listeners: group?.listeners,
    group,
    isRequired: required,
  });
}

/** The options that have a value: `undefined` counts as not given. */
function pick(given: object | undefined, names: readonly string[]): object {
  const own = ownOptions(given) as Record<string, unknown> | undefined;
  const values = names.map((name) => [name, own?.[name]] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** Asks it once: a clock that does not tell milliseconds would break each cool-down. */
function checkClock(clock: Clock, checks: OptionChecks): void {
  checks.methods('clock', clock, ['now', 'monotonic', 'setTimeout']);
  for (const name of ['now', 'monotonic'] as const) {
    const instant = ignoreThenable<unknown>(typeof clock?.[name] === 'function' ? clock[name]() : 0);
    checks.that(Number.isFinite(instant), 'clock', `must return milliseconds from ${name}()`, instant);
  }
}

/** A source of randomness that can't break a cool-down: a result that is not a number from 0 to below 1 is logged and replaced. */
function guarded(random: () => number, logger: SafeLogger): () => number {
  return () => {
    try {
      const number = ignoreThenable<unknown>(random());
      if (isNumber(number, 0, 1) && number !== 1) return number as number;
      logger.fault('random must return a number from 0 to below 1, replaced by Math.random()', number);
    } catch (error) {
      logger.fault('random threw, replaced by Math.random()', error);
    }
    return Math.random();
  };
}
