// Where the repository is, and the tools that are installed in it.

import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of package.json. */
export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

/** The path as people read it in a report: from the root, with slashes. */
export const shown = (path, from = root) => relative(from, path).split(sep).join('/');

/**
 * The command line of a tool in node_modules: node and the tool's own script, so that nothing depends on a shell or
 * on `.cmd` wrappers.
 *
 * @param {string} packageName
 * @param {string[]} args
 * @param {string} [bin] where the package has several
 */
export function tool(packageName, args, bin = packageName) {
  const folder = join(root, 'node_modules', packageName);
  const { bin: bins } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return [process.execPath, join(folder, typeof bins === 'string' ? bins : bins[bin]), ...args];
}

const reporter = `--reporter=${join(root, 'scripts/support/vitest-reporter.mjs')}`;
/** Vitest's command line, for one run: it names what it skips, and its last line is `N passed, N failed`. */
export const vitest = (...args) => tool('vitest', ['run', ...args, reporter]);
/** The same, of the tests that import the file, themselves or through others. */
export const vitestOf = (file, ...args) => tool('vitest', ['related', file, '--run', ...args, reporter]);

/** npm's command line: the script of the npm that runs us, or else the npm on the path. */
export function npm(args) {
  const script = process.env.npm_execpath;
  return script?.endsWith('.js') ? [process.execPath, script, ...args] : ['npm', ...args];
}
