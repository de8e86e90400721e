// Packages that only an example or a guide needs, in a folder of their own with its own lock file: not for every `npm ci`.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm, root, shown } from './project.mjs';
import { run } from './run.mjs';

const TIMEOUT_MS = 5 * 60_000;

/**
 * Installs the packages of a folder where they are missing or not the pinned ones; `tickless` in it is this repository.
 *
 * @param {string} folder
 * @param {(folder: string) => unknown} [finish] what is to be done besides.
 * @throws {Error} with what npm said.
 */
export async function installApart(folder, finish) {
  const stampFile = join(folder, 'node_modules', '.installed');
  const wanted = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return;
  console.log(`installs what ${shown(folder)} needs`);
  const command = npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
  const { code, output } = await run(command, { cwd: folder, timeoutMs: TIMEOUT_MS });
  if (code !== 0) throw new Error(`${shown(folder)}: ${command.join(' ')} failed:\n${output}`);
  await finish?.(folder);
  symlinkSync(root, join(folder, 'node_modules', 'tickless'), 'junction');
  writeFileSync(stampFile, wanted);
}
