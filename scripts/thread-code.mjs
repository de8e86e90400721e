// Generates src/worker/thread-code.ts: the program of the threads of `tickless/worker`, bundled from src/worker/thread
// into one string. Git ignores the file. `npm test`, each build and each run of Vitest generate it. No script of npm does:
// npm warns whoever installs the package of any that has to do with installing.
//
//   node scripts/thread-code.mjs

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { scriptArguments } from './support/arguments.mjs';
import { noticeOf, packagesIn } from './support/notices.mjs';
import { root } from './support/project.mjs';

/** Called by Vitest, as a global setup. */
export async function setup() {
  await generateThreadCode();
}

/** @returns the packages whose code is in the program. */
export async function generateThreadCode() {
  const {
    outputFiles: [bundle],
    metafile,
  } = await build({
    entryPoints: [join(root, 'src/worker/thread/main.ts')],
    bundle: true,
    format: 'iife',
    platform: 'node',
    target: 'node20',
    write: false,
    metafile: true,
    outfile: join(root, '.tmp/thread.js'), // nothing is written
  });
  // With --input-type=module the thread evaluates it as a module, which has no require.
  if (bundle.text.includes('__require'))
    throw new Error('the program of the thread imports a module of Node');
  const packages = packagesIn(metafile);
  const code = `${noticeOf(packages)}\n${bundle.text}//# sourceURL=tickless/worker`;
  const text = [
    '// Generated from src/worker/thread by scripts/thread-code.mjs.',
    '',
    '/**',
    ' * The program of a thread. A string, because the path of a file would break when the package is bundled, and because',
    ' * some runtimes cannot load TypeScript.',
    ' */',
    `export const threadCode: string = ${JSON.stringify(code)};`,
    '',
  ].join('\n');
  const file = join(root, 'src/worker/thread-code.ts');
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
  return packages;
}

if (process.argv[1] === import.meta.filename) {
  scriptArguments();
  await setup();
}
