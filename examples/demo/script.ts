import type { Flaw } from './editions.ts';

/** How the origin behaves during a phase. */
type Behaviour = 'steady' | 'slow' | 'hanging' | 'unavailable' | 'resetting' | 'refusing';

/** A part of the run, as seen at the origin. */
export interface Phase {
  /** Where it begins, as a fraction of the run. */
  readonly from: number;
  readonly behaviour: Behaviour;
  /** How long an answer takes while it is slow. */
  readonly delayMs?: number;
  /** Which edition of the data it serves: each has an ETag of its own. */
  readonly edition: number;
  /** What is wrong with that edition. @default nothing */
  readonly flaw?: Flaw;
  /** For people. */
  readonly title: string;
}

/** What befalls the origin, in order. */
export type Script = readonly [Phase, ...Phase[]];

const SLOW_MS = 1500;
/** What `Retry-After` says while unavailable. */
export const RETRY_AFTER_SECONDS = 1;

/** That of the demo with one service. */
export const script: Script = [
  { from: 0, behaviour: 'steady', edition: 1, title: 'answers at once' },
  {
    from: 0.15,
    behaviour: 'slow',
    delayMs: SLOW_MS,
    edition: 1,
    title: `is slow: ${SLOW_MS / 1000} s per answer`,
  },
  { from: 0.32, behaviour: 'steady', edition: 2, title: 'answers at once, with new data' },
  { from: 0.42, behaviour: 'hanging', edition: 2, title: 'accepts requests and never answers' },
  {
    from: 0.57,
    behaviour: 'unavailable',
    edition: 2,
    title: `fails: 503, Retry-After: ${RETRY_AFTER_SECONDS}`,
  },
  { from: 0.67, behaviour: 'resetting', edition: 2, title: 'fails: resets connections' },
  { from: 0.72, behaviour: 'refusing', edition: 2, title: 'is down: refuses connections' },
  { from: 0.77, behaviour: 'steady', edition: 3, title: 'is back, with new data' },
];
