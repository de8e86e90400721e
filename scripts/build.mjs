// npm run build: bundles the entries of "exports" into an empty dist, what they share in chunks; declarations too.
// `node scripts/build.mjs <folder>`: into that folder.
//
// The maps name the sources without their text, which would double the package. Comments stand in the declarations.

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

await generateThreadCode();
await build({
  cwd: root,
  input: Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
  platform: 'neutral',
  checks: { pluginTimings: false },
  external: [/^node:/, ...Object.keys(dependencies)],
  // `oxc`: each declaration from its own file, as `isolatedDeclarations` allows, without the compiler.
  plugins: [dts({ oxc: true, sourcemap: false }), slimMaps],
  output: {
    dir: process.argv[2] ?? 'dist',
    cleanDir: true,
    chunkFileNames: 'shared/[name].js',
    sourcemap: true,
    comments: { jsdoc: false },
  },
});
