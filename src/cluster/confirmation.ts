import { isNumber, ownOptions } from '../option-checks.ts';
import { checksum } from './checksum.ts';
import { SEAL_LENGTH, sealOf } from './seal.ts';
import { areTimes, type SnapshotTimes, type TimesLine, timesIn, timesLine } from './snapshot-times.ts';

/**
 * Says of a version that a later round has found its value unchanged: it has the times of that round. It is kept beside the
 * snapshot until the next one replaces that, and goes with the release of the lease.
 */
export interface Confirmation extends SnapshotTimes {
  readonly version: number;
  /** The token of the round; 0: it had no lease. */
  readonly round: number;
}

/** Instead of a longer one the snapshot is published. In UTF-16 code units. */
export const LONGEST_CONFIRMATION = 4096;

interface Line extends TimesLine {
  readonly confirms: number;
  readonly round: number;
}

/** One line of JSON that ends in a checksum of the rest. */
export function confirmationText({ version, round, ...times }: Confirmation): string {
  const line: Line = { confirms: version, round, ...timesLine(times) };
  const text = JSON.stringify(line).slice(0, -1);
  return text + sealOf(checksum(text));
}

/** The confirmation of that version; `undefined`: the text is none, is damaged, or is about another version. */
export function confirmationIn(text: unknown, version: number): Confirmation | undefined {
  if (typeof text !== 'string' || text.length > LONGEST_CONFIRMATION) return undefined;
  if (text.slice(-SEAL_LENGTH) !== sealOf(checksum(text.slice(0, -SEAL_LENGTH)))) return undefined;
  try {
    const line = ownOptions((JSON.parse(text) ?? {}) as Partial<Line>);
    const { confirms, round = -1 } = line;
    const isWhole = confirms === version && isNumber(round, 0, Number.MAX_SAFE_INTEGER) && areTimes(line);
    return isWhole ? { version, round, ...timesIn(line as Line) } : undefined;
  } catch {
    return undefined; // not JSON
  }
}
