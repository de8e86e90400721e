// Generates src/console/page-text.ts: the page of `tickless/console`, bundled from src/console/page into strings. Git ignores
// the file. `npm test`, each build and each run of Vitest generate it.
//
//   node scripts/console-page.mjs

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { scriptArguments } from './support/arguments.mjs';
import { noticeOf, packagesIn } from './support/notices.mjs';
import { root } from './support/project.mjs';

/** Called by Vitest, as a global setup. */
export async function setup() {
  await generateConsolePage();
}

/** @returns the packages whose code is in the page. */
export async function generateConsolePage() {
  const { outputFiles, metafile } = await build({
    entryPoints: {
      app: join(root, 'src/console/page/main.tsx'),
      style: join(root, 'src/console/page/page.css'),
    },
    outdir: join(root, '.tmp'), // nothing is written
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['es2022'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    write: false,
    metafile: true,
  });
  const packages = packagesIn(metafile);
  const text = (extension) => outputFiles.find(({ path }) => path.endsWith(extension)).text;
  const script = `${noticeOf(packages)}\n${text('.js')}`;
  const page = {
    html: readFileSync(join(root, 'src/console/page/page.html'), 'utf8'),
    script,
    style: text('.css'),
  };
  const lines = Object.entries(page).map(([name, content]) => {
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 16);
    return `  ${name}: { text: ${JSON.stringify(content)}, hash: '${hash}' },`;
  });
  const generated = [
    '// Generated from src/console/page by scripts/console-page.mjs.',
    '',
    '/** A file of the page, with the hash of its text. */',
    'interface PageText {',
    '  readonly text: string;',
    '  readonly hash: string;',
    '}',
    '',
    '/** The page of the console. Strings, because the path of a file would break when the package is bundled. */',
    "export const pageText: { readonly [name in 'html' | 'script' | 'style']: PageText } = {",
    ...lines,
    '};',
    '',
  ].join('\n');
  const file = join(root, 'src/console/page-text.ts');
  if (!existsSync(file) || readFileSync(file, 'utf8') !== generated) writeFileSync(file, generated);
  return packages;
}

if (process.argv[1] === import.meta.filename) {
  scriptArguments();
  await setup();
}
