import { type ErrorDetails, TicklessError } from '../errors.ts';
import { printable } from '../printable.ts';

/** The refusal of a value by the schema or the guard. */
export interface RefusedValue {
  /** For people: one line of at most 1 kB, without control characters. */
  readonly reason: string;
  /** The number of the elements of the value, or by the `sizeOf` of the guard. `undefined`: unknown. */
  readonly size: number | undefined;
  /** The size of the value that it would have replaced. `undefined`: unknown, or there was none. */
  readonly previousSize?: number | undefined;
  readonly cause?: unknown;
}

export function refusedError(
  { reason, size, previousSize, cause }: RefusedValue,
  about: Pick<ErrorDetails, 'member' | 'key'>,
): TicklessError {
  const before = previousSize === undefined ? '' : `, before ${previousSize}`;
  const sizes = size === undefined ? '' : ` (size ${size}${before})`;
  return new TicklessError('REFUSED', `value refused: ${printable(reason)}${sizes}`, { ...about, cause });
}
