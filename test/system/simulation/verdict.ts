import type { Violation } from './referee.ts';

/** The verdict of a run of a world. */
export interface Verdict {
  readonly seed: number;
  /** The first violated rule. */
  readonly violation: Violation | undefined;
  /** Virtual milliseconds. */
  readonly lasted: number;
  readonly steps: number;
  readonly loads: number;
  /** Lines; empty unless requested. */
  readonly trace: readonly string[];
}
