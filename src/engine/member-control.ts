import { rejected } from '../time/deferred.ts';
import type { ControlledMember } from './control.ts';
import type { Coordinator } from './coordinator.ts';
import type { RunState } from './decide.ts';
import type { EngineOptions } from './engine-options.ts';
import { closedError } from './read-errors.ts';
import { reachesAll, type ScopeOptions } from './scope.ts';

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
