import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

interface Hash {
  update(text: string): { digest(encoding: 'hex'): string };
}

const { process } = globalThis as {
  process?: { getBuiltinModule?(id: 'crypto'): { createHash?(algorithm: 'sha256'): Hash } };
};
/** Six times faster. @default not there */
const createHash = process?.getBuiltinModule?.('crypto')?.createHash;

const UTF_8 = new TextEncoder();

/**
 * Stands for a text that the server has: its SHA-256 in hexadecimal digits, as databases write it. No weaker one, because a source
 * that could make two texts with one digest could have one of them replaced in place of the other.
 */
export function digestOf(text: string): string {
  return createHash?.('sha256').update(text).digest('hex') ?? bytesToHex(sha256(UTF_8.encode(text)));
}
