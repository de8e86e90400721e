import { checksum } from './checksum.ts';

/** The end of a line of JSON that has a checksum. */
export function sealOf(sum: string): string {
  return `,"sum":"${sum}"}`;
}

export const SEAL_LENGTH: number = sealOf(checksum('')).length;
