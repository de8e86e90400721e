import type { OptionChecks } from '../option-checks.ts';

/** The option that bounds what a source reads. */
export interface ByteLimit {
  /**
   * The most bytes that it reads, as they are before parsing; with more the load fails. A whole number from 1; `Infinity`: no
   * limit. @default 100,000,000
   */
  readonly maxBytes?: number | undefined;
}

export const MAX_BYTES = 100_000_000;

export function checkByteLimit(checks: OptionChecks, maxBytes: unknown): void {
  checks.count('maxBytes', maxBytes, Number.POSITIVE_INFINITY);
}

/** The end of an error: the source has more than that. */
export function overLimit(maxBytes: number): string {
  return `has more than ${maxBytes.toLocaleString('en')} bytes, the most that maxBytes allows`;
}
