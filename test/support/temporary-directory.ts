import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

/** A directory of its own for one test, deleted after it. What still writes into it then, such as a last report, gets a moment. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tickless-'));
  onTestFinished(() => remove(directory));
  return directory;
}

/** `maxRetries` of `rmSync` tries the folder anew, not the files that were written into it since. */
async function remove(directory: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return rmSync(directory, { recursive: true, force: true });
    } catch (error) {
      if (attempt === 10) throw error;
      await sleep(20);
    }
  }
}
