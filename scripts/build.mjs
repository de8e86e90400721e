// npm run build: generates the code of threads, and bundles the entries of "exports" into an empty dist with shared
// chunks and declarations.
// `node scripts/build.mjs <folder>`: into that folder.
//
// The source maps refer to the sources in the package instead of repeating their text. Comments are in the declarations.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { root } from './support/project.mjs';
import { setup as generateThreadCode } from './thread-code.mjs';

const { exports, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entries = Object.values(exports).flatMap(
  ({ default: file }) => /^\.\/dist\/(.+)\.js$/.exec(file)?.[1] ?? [],
);

await generateThreadCode();

/** Takes the sources' text out of the maps. */
const slimMaps = {
  name: 'slim maps',
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (!file.fileName.endsWith('.map')) continue;
      const { sourcesContent: _text, ...map } = JSON.parse(file.source);
      file.source = JSON.stringify(map);
    }
  },
};

/**
 * Few chunks: each file adds more to the time of an import than its code does. Bundlers can leave out a whole chunk, so
 * croner (with `cron`), luxon (with the calendar), values and caches, and the cluster have chunks of their own.
 */
const CHUNKS = [
  ['cron', /^schedule\/cron\.ts$/],
  ['calendar', /^schedule\/(daily-at|during-hours|local-time|time-of-day)\.ts$/],
  ['values', /^(value|cache|group)\//],
  ['cluster', /^cluster\//],
  ['core', /^(errors|option-checks|time|observe|engine|due|options|schedule)\b/],
];
const folder = join(root, 'src/').replaceAll('\\', '/');

function chunkOf(id) {
  const file = id.replaceAll('\\', '/');
  if (!file.startsWith(folder) || !/(?<!\.d)\.ts$/.test(file)) return null;
  const path = file.slice(folder.length);
  return CHUNKS.find(([, rooms]) => rooms.test(path))?.[0] ?? null;
}

await build({
  cwd: root,
  input: Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
  platform: 'neutral',
  preserveEntrySignatures: 'allow-extension', // as `codeSplitting` below needs it
  checks: { pluginTimings: false },
  external: [/^node:/, ...Object.keys(dependencies)],
  // `oxc`: each declaration from its own file, as `isolatedDeclarations` allows, without the compiler.
  plugins: [dts({ oxc: true, sourcemap: false }), slimMaps],
  output: {
    dir: process.argv[2] ?? 'dist',
    cleanDir: true,
    chunkFileNames: 'shared/[name].js',
    sourcemap: true,
    codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: chunkOf }] },
    comments: { jsdoc: false },
  },
});
