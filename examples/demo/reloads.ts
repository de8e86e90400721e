import type { RefreshingValue } from 'tickless';
import type { LoadCounts } from './reports.ts';

/** Follows the loads of a value by its events. */
export class Reloads {
  readonly #counts: { -readonly [K in keyof LoadCounts]: number } = {
    started: 0,
    succeeded: 0,
    kept: 0,
    failed: 0,
    timedOut: 0,
  };
  #endedAt = Number.NEGATIVE_INFINITY;

  constructor(value: RefreshingValue<unknown>) {
    const count = (outcome: keyof LoadCounts) => (): void => {
      this.#counts[outcome] += 1;
      if (outcome !== 'started') this.#endedAt = performance.now();
    };
    value.on('load-started', count('started'));
    const counts = {
      loaded: count('succeeded'),
      kept: count('kept'),
      failed: count('failed'),
      refused: count('failed'),
      'timed-out': count('timedOut'),
    };
    value.on('load-ended', ({ outcome }) => (counts as Partial<Record<string, () => void>>)[outcome]?.());
  }

  get counts(): LoadCounts {
    return { ...this.#counts };
  }

  /** Milliseconds since a load ended. */
  get sinceEnd(): number {
    return performance.now() - this.#endedAt;
  }
}
