import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

const UTF_8 = new TextEncoder();

/**
 * Stands for a text that the server has: its SHA-256 in hexadecimal digits, as databases write it. No weaker one, because a source
 * that could make two texts with one digest could have one of them replaced in place of the other.
 */
export function digestOf(text: string): string {
  return bytesToHex(sha256(UTF_8.encode(text)));
}
