import { constants, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { whileInUse } from './in-use.ts';
import { codeOf } from './missing.ts';

/** Windows has none of these flags, and neither FIFOs nor such links in a directory. */
const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0, O_NOCTTY = 0 } = constants;

/** Errors of `open` for a link (the second one on FreeBSD), and for a socket. */
const NOT_A_FILE: readonly unknown[] = ['ELOOP', 'EMLINK', 'ENXIO'];

/**
 * Reads a file that should be ours: a regular one, of the right length and owner. A FIFO, a device or a link of the
 * same name is neither waited for nor followed.
 *
 * @param most reads no more bytes than that.
 * @returns `null` for anything else under that name; `undefined`: nothing is there.
 */
export async function readRegularFile(
  path: string,
  isOwn: (stats: Stats) => boolean,
  most: number = Infinity,
): Promise<string | undefined | null> {
  try {
    const file = await whileInUse(() => open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY));
    try {
      const stats = await file.stat();
      if (!stats.isFile() || !isOwn(stats)) return null;
      const bytes = Buffer.allocUnsafe(Math.min(stats.size, most));
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0); // one step; readFile takes three
      return bytes.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (NOT_A_FILE.includes(codeOf(error))) return null;
    throw error;
  }
}
