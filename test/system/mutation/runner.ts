import { inject, type RunnerTestCase, TestRunner } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Stryker's. */
    mode?: 'dry-run' | 'mutant';
  }
}

/** A mutant that waits for ever ends by it. The tests take milliseconds: they run on virtual time. */
const MUTANT_TIMEOUT_MS = 2_000;

/**
 * How tests are run against a mutant:
 *
 * - Those of `describe.concurrent` at once, since they wait for real time. In its first run Stryker has them run one by
 *   one, because it must know which test sees which mutant. That is not asked afterwards.
 * - Until one has failed; the others are passed over. Vitest's own `bail`, which Stryker asks for, ends the process
 *   instead, often before it has reported the failure: the mutant would count as one that has survived.
 */
export default class MutantRunner extends TestRunner {
  readonly #hasMutant: boolean = inject('mode') === 'mutant';

  constructor(config: ConstructorParameters<typeof TestRunner>[0]) {
    super(config);
    if (!this.#hasMutant) return;
    config.maxConcurrency = 16;
    config.bail = 0;
    config.testTimeout = Math.min(config.testTimeout, MUTANT_TIMEOUT_MS);
  }

  override onAfterRunTask(test: RunnerTestCase): void {
    super.onAfterRunTask(test);
    if (this.#hasMutant && test.result?.state === 'fail') this.cancel('test-failure');
  }
}
