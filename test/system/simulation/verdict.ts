import type { Violation } from './referee.ts';

/** What a run of a world has shown. */
export interface Verdict {
  readonly seed: number;
  /** The first rule that did not hold. */
  readonly violation: Violation | undefined;
  /** Virtual milliseconds. */
  readonly lasted: number;
  readonly steps: number;
  readonly loads: number;
  /** Lines; empty unless they were asked for. */
  readonly trace: readonly string[];
}
