import type { ExecutorRun, SharedRuns } from '../data/executor-run.ts';
import { type BackendAccess, withStepTimeout } from './backend-access.ts';
import type { LockSteps } from './backend-steps.ts';
import { thisHost, thisProcess } from './identity.ts';
import type { MemberContext } from './member-context.ts';
import { addRun, keptRuns, type TaskRun } from './task-runs.ts';
import { writeTimeoutMs } from './time-limits.ts';
import { unavailable } from './unavailable.ts';

type RunSteps = NonNullable<LockSteps['runs']>;

/** The runs of one task at the backend of its lock, under the name of that lock. */
export class MemberRuns implements SharedRuns {
  readonly #context: MemberContext;
  readonly #access: BackendAccess<LockSteps>;
  readonly #steps: RunSteps;

  constructor(context: MemberContext, access: BackendAccess<LockSteps>, steps: RunSteps) {
    this.#context = context;
    this.#access = access;
    this.#steps = steps;
  }

  async read(): Promise<readonly TaskRun[]> {
    const { clock, name } = this.#context.options;
    const lockName = await this.#lockName();
    const step = (): Promise<readonly TaskRun[]> =>
      withStepTimeout(() => keptRuns(this.#steps, lockName), clock, this.#access.limitMs);
    const asked = await this.#access.ask(step, clock);
    if (asked.kind === 'answered') return asked.answer;
    throw unavailable(asked.cause, name);
  }

  /** A run without a lease is in no order with the others. */
  async add({ token, ...run }: ExecutorRun): Promise<void> {
    if (token === undefined) return;
    const { limitMs } = this.#access;
    const { clock } = this.#context.options;
    const all = { ...run, token, host: thisHost(), instance: thisProcess() };
    const step = async (): Promise<void> => addRun(this.#steps, await this.#lockName(), all);
    await withStepTimeout(step, clock, limitMs + writeTimeoutMs(limitMs)).catch(() => {});
  }

  async #lockName(): Promise<string> {
    const { longestName } = this.#access.steps;
    return this.#context.names.atBackend({ id: undefined, key: undefined }, longestName);
  }
}
