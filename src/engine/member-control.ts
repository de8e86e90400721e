import { namesArgument, OptionChecks, ownOptions } from '../option-checks.ts';
import { rejected } from '../time/deferred.ts';
import type { ControlledMember } from './control.ts';
import type { Coordinator } from './coordinator.ts';
import type { RunState } from './decide.ts';
import type { EngineOptions } from './engine-options.ts';
import { closedError } from './read-errors.ts';

/** The engine of a member, as far as it is controlled. */
export interface ControlledEngine extends ControlledMember {
  readonly options: EngineOptions;
  readonly coordinator: Coordinator | undefined;
  readonly runState: RunState;
  untilClosed<R>(work: Promise<R>): Promise<R>;
}

/**
 * Pauses or resumes a member.
 *
 * @returns a promise, which may be dropped.
 * @throws {TicklessError} `OPTION`; nothing was changed then.
 */
export function control(
  engine: ControlledEngine,
  isPaused: boolean,
  options: ScopeOptions | undefined,
): Promise<void> {
  const isForAll = reachesAll(engine.options, options);
  if (isForAll && engine.runState === 'closed') return rejected(closedError(engine.options.name));
  if (isPaused) engine.pause();
  else engine.resume();
  if (!isForAll) return Promise.resolve();
  return engine.untilClosed((engine.coordinator as Coordinator).control(isPaused));
}

/** The options of a change of a member. */
export interface ScopeOptions {
  /**
   * The change is made on this instance only. Without it a change of a member with a `backend` reaches all instances: here at once, the
   * others within their `propagateWithin`. The promise resolves when the backend has it, and rejects with
   * `BACKEND_DOWN` when it could not be reached within the `timeout`, with `CLOSED` when
   * `close()` ended the wait; the change stays here. It may be dropped. A member without a backend changes here.
   * @default false
   */
  readonly here?: boolean | undefined;
}

/** The options of methods beside `here`, each a boolean. */
interface Flags {
  readonly drop?: boolean | undefined;
}

/**
 * Checks the options of a change.
 *
 * @param flags those that the method takes beside `here`.
 * @returns whether the change reaches all instances.
 * @throws {TicklessError} `OPTION` for an unknown option, and for one that is not a boolean.
 */
export function reachesAll(
  { name, membership }: Pick<EngineOptions, 'name' | 'membership'>,
  given: (ScopeOptions & Flags) | undefined,
  ...flags: readonly (keyof Flags)[]
): boolean {
  const options = ownOptions(given);
  const all = [...flags, 'here'] as const;
  namesArgument(name, options, all);
  const checks = new OptionChecks(name);
  for (const flag of all) checks.oneOf(flag, options?.[flag] ?? false, [true, false]);
  checks.done();
  return options?.here !== true && membership?.hasStore === true;
}
