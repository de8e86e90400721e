import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Gives back the segment of shared memory that a PostgreSQL leaves behind when it is killed. Its number is in the file
 * of the process number. Does nothing where there is none. Never throws.
 */
export function freeSharedMemory(directory: string): void {
  try {
    const lines = readFileSync(join(directory, 'data/postmaster.pid'), 'utf8').split('\n');
    const segment = lines[6]?.trim().split(/\s+/)[1];
    if (segment !== undefined) execFileSync('ipcrm', ['-m', segment], { stdio: 'ignore' });
  } catch {
    // No PostgreSQL, or it ended in order.
  }
}
