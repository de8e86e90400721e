import type { OptionChecks } from '../option-checks.ts';

/** The option that bounds what a source reads. */
export interface ByteLimit {
  /**
   * The most bytes that it reads, as they are before parsing; with more the load fails. A whole number from 1; `Infinity`: no
   * limit. @default 67_108_864 (64 MiB)
   */
  readonly maxBytes?: number | undefined;
}

export const MAX_BYTES = 67_108_864;

export function checkByteLimit(checks: OptionChecks, maxBytes: unknown): void {
  checks.count('maxBytes', maxBytes, Infinity);
}

/** Ready to follow the name of the source. */
export function overLimit(maxBytes: number): string {
  return `has more than maxBytes (${maxBytes}) bytes`;
}
