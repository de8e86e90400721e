import type { CoolDown } from '../engine/cool-down.ts';
import type { Accept, Clock, DurationLike, SharedOptions } from '../index.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import { resolveCoolDown } from '../options/failure-options.ts';
import { systemClock } from '../time/clock.ts';
import type { SourceLike } from './source-like.ts';

/** The options of `firstOf`. */
export interface FirstOfOptions<T> {
  /**
   * Asked about each value that a source has loaded; a refused one is a failure of that source, and the next one is asked. It gets
   * the value in place as `previous`, also one of another source. `inspect().refused` does not have a value that is refused here, so
   * `refresh({ force })` can't load it. The `accept` of the member checks the result: a person can force that one, but no other source
   * is asked. Not asked about `keep()`. @default undefined: any value
   */
  readonly accept?: Accept<T> | undefined;
  /**
   * The age of the value in place from which the edition of a backup may replace one of a source before it that is newer. Editions are
   * compared by `editedAt`; one that is not known counts as older. Before that age the backup counts as failed. 0: at any age;
   * `Infinity`: never. @default the `maxStaleness` of the value in place; where there is none, the time from its load to when it was due
   */
  readonly allowOlderAfter?: DurationLike | undefined;
  /**
   * When a value of a backup is due again: as the option of the same name of a member, where each answer in a row that is not the first
   * source's counts as a failure. At least the `Retry-After` of the sources that have failed. The schedule of the member applies again with the next
   * value of the first source. Where its period is shorter than two minutes, set `max` to it.
   * @default { initial: 1 second, factor: 2, max: 2 minutes }
   */
  readonly coolDown?: SharedOptions['coolDown'];
  /**
   * How long each source but the last one, with `accept`, may take. Then its `signal` is aborted, and the next one is asked. All of them
   * share the `timeout` of the member (30 seconds), so that this must be shorter. Over 0; `Infinity`: no limit, so
   * that a source which hangs fails the whole load. @default 10 seconds
   */
  readonly timeout?: DurationLike | undefined;
  /** Give it the clock of the member in tests. @default that of the machine */
  readonly clock?: Clock | undefined;
  /** Numbers from 0 to below 1, for the jitter of `coolDown`. @default Math.random */
  readonly random?: (() => number) | undefined;
}

/** {@link FirstOfOptions} with their defaults; durations in milliseconds. */
export interface ResolvedFirstOf<T> {
  readonly sources: readonly SourceLike<T>[];
  readonly accept: Accept<T> | undefined;
  /** `undefined`: as long as the limit of the value in place. */
  readonly allowOlderAfterMs: number | undefined;
  readonly coolDown: CoolDown;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly random: () => number;
}

const NAMES: readonly (keyof FirstOfOptions<unknown>)[] = [
  'accept',
  'allowOlderAfter',
  'coolDown',
  'timeout',
  'clock',
  'random',
];

/**
 * @param given the sources, and the options behind them where there are some.
 * @throws {TicklessError} `OPTION` naming every one that breaks a rule.
 */
export function resolveFirstOf<T>(given: readonly unknown[]): ResolvedFirstOf<T> {
  const last = given.at(-1);
  const hasOptions = typeof last === 'object' && last !== null && !Array.isArray(last);
  const sources = hasOptions ? given.slice(0, -1) : given;
  const options = ownOptions<FirstOfOptions<T>>(hasOptions ? last : {});
  const { accept, allowOlderAfter, timeout = 10_000, clock = systemClock, random = Math.random } = options;
  const checks = new OptionChecks('firstOf');
  checks.names('', options, NAMES);
  checks.that(sources.length > 0, 'sources', 'must be at least one', sources);
  for (const [index, source] of sources.entries()) checks.function(`sources[${index}]`, source);
  if (accept !== undefined) checks.function('accept', accept);
  const allowOlderAfterMs =
    allowOlderAfter === undefined ? undefined : checks.durationFromZero('allowOlderAfter', allowOlderAfter);
  const coolDown = resolveCoolDown(options.coolDown, NaN, checks);
  const timeoutMs = checks.duration('timeout', timeout);
  checks.methods('clock', clock, ['now', 'monotonic', 'setTimeout']);
  checks.function('random', random);
  checks.done();
  return {
    sources: sources as SourceLike<T>[],
    accept,
    allowOlderAfterMs,
    coolDown,
    timeoutMs,
    clock,
    random,
  };
}
