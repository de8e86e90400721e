import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A directory of its own for one test, deleted after it. What still writes into it then, such as a last report, gets a moment. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tickless-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }));
  return directory;
}
