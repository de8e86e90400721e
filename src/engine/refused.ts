import type { Difference } from '../data/difference.ts';

/** A loaded value that the guard or the schema refused. The value itself is not kept. */
export interface Refused {
  /** Why it was refused. */
  readonly reason: string;
  /** Since when all loaded values were refused, without one that was accepted in between. Epoch milliseconds. */
  readonly since: number;
  /** The number of its elements, or by the `sizeOf` of the guard; `undefined`: unknown. */
  readonly size: number | undefined;
  /** That of the value before; `undefined`: unknown, or there was none. */
  readonly previousSize: number | undefined;
  /** Names what was refused, for `refresh({ force: digest })`: the same for equal content. `undefined`: the schema refused it. */
  readonly digest: string | undefined;
  /**
   * From the value before to the refused one, with at most 20 samples of each kind: parts of both values. Not present: there was no
   * value before, the schema refused it, `idOf` failed, half of the time to the deadline was too short for it, it is one of a key and those
   * of 100 other keys are newer, or `values: false`.
   */
  readonly differences?: Difference;
}

/** Without the parts of values. */
export function withoutDifferences({ differences: _, ...refused }: Refused): Refused {
  return refused;
}

/** A person has looked at a refused value: the next load passes the guard if it is that one. */
export interface ForcedLoad {
  readonly digest: string;
  /** It was loaded again, and has passed. */
  isPassed: boolean;
}

/** Why a load is refused, or its result, that is not the refused value which a person has looked at. */
export const NOT_SEEN = 'it is not the value that was refused before: look at it again';
