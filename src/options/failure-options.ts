import type { CoolDown } from '../engine/cool-down.ts';
import type { RetryOptions } from '../engine/retry.ts';
import { isNumber, type OptionChecks } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { type CoolDownOptions, defaults } from './shared-options.ts';

/** The option `coolDown` with nothing optional left; what is wrong with it is told to the checks. */
export function resolveCoolDown(
  given: DurationLike | CoolDownOptions | undefined,
  checks: OptionChecks,
): CoolDown {
  if (given !== undefined && !isCoolDownOptions(given)) {
    const ms = checks.finiteDuration('coolDown', given);
    return { initialMs: ms, factor: 1, maxMs: ms };
  }
  checks.names('coolDown.', given ?? {}, ['initial', 'factor', 'max']);
  const { initial = defaults.coolDown.initial, factor = defaults.coolDown.factor } = given ?? {};
  const initialMs = checks.finiteDuration('coolDown.initial', initial);
  const isFactor = isNumber(factor, 1, Number.MAX_VALUE);
  checks.that(isFactor, 'coolDown.factor', 'must be a finite number of 1 or more', factor);
  const max = given?.max ?? Math.max(defaults.coolDown.max, initialMs);
  const maxMs = checks.finiteDuration('coolDown.max', max);
  checks.that(!(maxMs < initialMs), 'coolDown.max', 'must not be shorter than coolDown.initial', max);
  return { initialMs, factor, maxMs };
}

function isCoolDownOptions(given: DurationLike | CoolDownOptions): given is CoolDownOptions {
  return (
    typeof given === 'object' && given !== null && ('initial' in given || 'factor' in given || 'max' in given)
  );
}

/** `unref` is taken and of no effect: timers hold the process while somebody waits. */
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

/** Checks the option `retry`. */
export function checkRetry(retry: RetryOptions, checks: OptionChecks): void {
  if (typeof retry !== 'object' || retry === null) {
    checks.that(false, 'retry', "must be an object of p-retry's options", retry);
    return;
  }
  checks.names('retry.', retry, RETRY_OPTIONS);
  for (const option of ['retries', 'maxTimeout', 'maxRetryTime'] as const) {
    const received = retry[option] ?? 0;
    checks.that(
      isNumber(received, 0, Infinity),
      `retry.${option}`,
      'must be a number of 0 or more',
      received,
    );
  }
  for (const option of ['factor', 'minTimeout'] as const) {
    const received = retry[option] ?? 0;
    const holds = isNumber(received, 0, Number.MAX_VALUE);
    checks.that(holds, `retry.${option}`, 'must be a finite number of 0 or more', received);
  }
  const { minTimeout = 0, maxTimeout = Infinity } = retry;
  const noShorter = 'must not be shorter than retry.minTimeout';
  checks.that(!(maxTimeout < minTimeout), 'retry.maxTimeout', noShorter, maxTimeout);
  for (const option of ['onFailedAttempt', 'shouldRetry', 'shouldConsumeRetry'] as const) {
    if (retry[option] !== undefined) checks.function(`retry.${option}`, retry[option]);
  }
}
