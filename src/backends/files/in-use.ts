import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from './missing.ts';

/** Answers of Windows while another process has the file open, or while its deletion is not over. */
const IN_USE: readonly unknown[] = ['EPERM', 'EACCES', 'EBUSY'];

/** In milliseconds: readers of ours are done after the first, virus scanners after the last. */
const PAUSES = [5, 10, 20, 40, 80, 160, 320];

/**
 * Carries out a step on a file. On Windows it is repeated for up to 0.6 s while another process has that file open: there
 * a file that is read, also by a virus scanner, can be neither replaced nor deleted. Elsewhere it can, and an error is final.
 */
export async function whileInUse<R>(step: () => Promise<R>): Promise<R> {
  for (const pause of process.platform === 'win32' ? PAUSES : []) {
    try {
      return await step();
    } catch (error) {
      if (!IN_USE.includes(codeOf(error))) throw error;
      await sleep(pause);
    }
  }
  return step();
}
