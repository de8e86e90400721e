import { type CoolDown, cappedByPeriod } from '../engine/cool-down.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import type { RetryOptions } from '../engine/retry.ts';
import { checkNumber, type OptionChecks, ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { defaults } from './defaults.ts';
import type { CoolDownOptions } from './shared-options.ts';

/**
 * Resolves the option `coolDown`; broken rules go to `checks`.
 *
 * @param periodMs the schedule, where it is a duration; else NaN. By default no cool-down is longer.
 */
export function resolveCoolDown(
  given: DurationLike | CoolDownOptions | undefined,
  periodMs: number,
  checks: OptionChecks,
): CoolDown {
  if (given !== undefined && !isCoolDownOptions(given)) {
    const ms = checks.finiteDuration('coolDown', given);
    return { initialMs: ms, factor: 1, maxMs: ms, isMaxDefault: false };
  }
  checks.names('coolDown.', given ?? {}, ['initial', 'factor', 'max']);
  const own = ownOptions<CoolDownOptions>(given ?? {});
  const { initial = defaults.coolDown.initial, factor = defaults.coolDown.factor } = own;
  const initialMs = checks.finiteDuration('coolDown.initial', initial);
  checkNumber(checks, 'coolDown.factor', factor, 1);
  const isMaxDefault = own.max === undefined;
  const max = own.max ?? Math.max(defaults.coolDown.max, initialMs);
  const maxMs = checks.finiteDuration('coolDown.max', max);
  checks.that(!(maxMs < initialMs), 'coolDown.max', 'must not be shorter than coolDown.initial', max);
  return cappedByPeriod({ initialMs, factor, maxMs, isMaxDefault }, periodMs);
}

function isCoolDownOptions(given: DurationLike | CoolDownOptions): given is CoolDownOptions {
  return (
    typeof given === 'object' &&
    given !== null &&
    ['initial', 'factor', 'max'].some((name) => Object.hasOwn(given, name))
  );
}

/** `unref` is accepted and has no effect: timers keep the process alive while a caller waits. */
const RETRY_OPTIONS = [
  'retries',
  'factor',
  'minTimeout',
  'maxTimeout',
  'maxRetryTime',
  'randomize',
  'unref',
  'onFailedAttempt',
  'shouldRetry',
  'shouldConsumeRetry',
];

/** Resolves the option `retry`; broken rules go to `checks`. */
export function resolveRetry(
  retry: RetryOptions | false | undefined,
  checks: OptionChecks,
): Pick<ResolvedOptions, 'retry' | 'isRetryDefault'> {
  if (typeof retry === 'object' && retry !== null) {
    const own = ownOptions(retry);
    checkRetry(own, checks);
    return { retry: { ...defaults.retry, ...given(own) }, isRetryDefault: false };
  }
  const rule = "must be an object of p-retry's options, such as { retries: 3 }, or false";
  checks.that(retry === undefined || retry === false, 'retry', rule, retry);
  return { retry: retry === false ? undefined : defaults.retry, isRetryDefault: retry === undefined };
}

/** Those that are not `undefined`. */
function given(options: RetryOptions): RetryOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function checkRetry(retry: RetryOptions, checks: OptionChecks): void {
  checks.names('retry.', retry, RETRY_OPTIONS);
  for (const option of ['retries', 'maxTimeout', 'maxRetryTime'] as const)
    checkNumber(checks, `retry.${option}`, retry[option] ?? 0, 0, Infinity);
  for (const option of ['factor', 'minTimeout'] as const)
    checkNumber(checks, `retry.${option}`, retry[option] ?? 0, 0);
  const { minTimeout = 0, maxTimeout = Infinity } = retry;
  const noShorter = 'must not be shorter than retry.minTimeout';
  checks.that(!(maxTimeout < minTimeout), 'retry.maxTimeout', noShorter, maxTimeout);
  for (const option of ['onFailedAttempt', 'shouldRetry', 'shouldConsumeRetry'] as const) {
    if (retry[option] !== undefined) checks.function(`retry.${option}`, retry[option]);
  }
}
