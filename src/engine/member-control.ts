import { namesArgument, OptionChecks, ownOptions } from '../option-checks.ts';
import type { ScheduleLike } from '../schedule/schedule.ts';
import { dataOf, type ScheduleData } from '../schedule/schedule-data.ts';
import { rejected } from '../time/deferred.ts';
import type { Control, ControlledMember } from './control.ts';
import type { Coordinator } from './coordinator.ts';
import type { RunState } from './decide.ts';
import type { EngineOptions } from './engine-options.ts';
import { closedError } from './read-errors.ts';

/** A change of a member, not of its values. */
export type ControlChange =
  | { readonly isPaused: boolean }
  | { readonly schedule: ScheduleLike; readonly isPaused?: undefined };

/** The options of a change. */
export interface ControlOptions {
  readonly everywhere?: boolean | undefined;
}

/** The engine of a member, as far as it is controlled. */
export interface ControlledEngine extends ControlledMember {
  readonly options: EngineOptions;
  readonly coordinator: Coordinator | undefined;
  readonly runState: RunState;
  untilClosed<R>(work: Promise<R>): Promise<R>;
}

/**
 * Checks the options of a change.
 *
 * @returns whether it is to be made on all instances.
 * @throws {OptionError}
 */
export function controlArgument(
  { options: { name, membership }, coordinator }: ControlledEngine,
  change: ControlChange,
  options: ControlOptions | undefined,
): boolean {
  namesArgument(name, options, ['everywhere']);
  const everywhere = ownOptions(options)?.everywhere ?? false;
  const checks = new OptionChecks(name);
  checks.oneOf('everywhere', everywhere, [true, false]);
  if (everywhere === true) {
    const isShared = membership?.hasLock === true && membership.hasStore;
    const needed = isShared
      ? "propagateWithin (propagateWithin: '5s')"
      : 'a lock and a store (backend, or both)';
    const canFollow = isShared && coordinator?.checks !== undefined;
    checks.that(canFollow, 'everywhere', `needs ${needed} among the options`, everywhere);
    const rule = 'must be a duration, or of cron() or dailyAt(), to be known everywhere';
    if (change.isPaused === undefined)
      checks.that(dataOf(change.schedule) !== undefined, 'schedule', rule, change.schedule);
  }
  checks.done();
  return everywhere;
}

/**
 * Changes a member, here or on all instances.
 *
 * @returns with options, a promise, which may be dropped.
 * @throws {OptionError} nothing was changed then.
 */
export function control(
  engine: ControlledEngine,
  change: ControlChange,
  options: ControlOptions | undefined,
): Promise<void> | undefined {
  const isForAll = controlArgument(engine, change, options);
  if (isForAll && engine.runState === 'closed') return rejected(closedError(engine.options.name));
  if (change.isPaused === undefined) engine.reschedule(change.schedule);
  else if (change.isPaused) engine.pause();
  else engine.resume();
  if (!isForAll) return options === undefined ? undefined : Promise.resolve();
  const published = (engine.coordinator as Coordinator).control(asData(change));
  return engine.untilClosed(published);
}

function asData(change: ControlChange): Control {
  if (change.isPaused !== undefined) return change;
  return { schedule: dataOf(change.schedule) as ScheduleData };
}
