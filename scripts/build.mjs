// npm run build: generates the code of threads, and bundles the entries of "exports" into an empty dist with shared
// chunks and declarations.
// `node scripts/build.mjs <folder>`: into that folder.
//
// The source maps give the file and line of each line, for stack traces, without columns and the text of the sources.
// Comments are in the declarations.

import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { build as bundle } from 'esbuild';
import { build } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { generateConsolePage } from './console-page.mjs';
import { scriptArguments } from './support/arguments.mjs';
import { noticeOf, noticesOf, packagesIn } from './support/notices.mjs';
import { root } from './support/project.mjs';
import { generateThreadCode } from './thread-code.mjs';

const [folderOfOutput = 'dist'] = scriptArguments({}, { name: 'folder', most: 1 }).positionals;
const { exports, dependencies, peerDependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);
const entries = Object.values(exports).flatMap(
  ({ default: file }) => /^\.\/dist\/(.+)\.js$/.exec(file)?.[1] ?? [],
);

const inEntries = await Promise.all([generateThreadCode(), generateConsolePage()]);

/** Leaves in the maps where each line comes from: a third of their size. */
const slimMaps = {
  name: 'slim maps',
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (!file.fileName.endsWith('.map')) continue;
      const { sourcesContent: _text, names: _names, mappings, ...map } = JSON.parse(file.source);
      const lines = decode(mappings).map(([first]) => (first === undefined ? [] : [first.slice(0, 4)]));
      file.source = JSON.stringify({ ...map, names: [], mappings: encode(lines) });
    }
  },
};

/** Declarations name the library that has `Symbol.asyncDispose`: neither the default one for ES2022 nor that of the DOM has it. */
const namesLibrary = {
  name: 'library of disposables',
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (/\.d\.ts$/.test(file.fileName) && /\bSymbol\.(?:asyncD|d)ispose\b/.test(file.code))
        file.code = `/// <reference lib="esnext.disposable" />\n${file.code}`;
    }
  },
};

/** Chunks that import each other run in an order in which a class may not be there yet that another one extends. */
const noCycle = {
  name: 'no cycle of chunks',
  generateBundle(_, files) {
    const seen = new Set();
    const visit = (name, path) => {
      if (path.includes(name)) throw new Error(`chunks import each other: ${[...path, name].join(' → ')}`);
      if (seen.has(name)) return;
      for (const next of files[name]?.imports ?? []) if (next in files) visit(next, [...path, name]);
      seen.add(name);
    };
    for (const name of Object.keys(files)) visit(name, []);
  },
};

/**
 * A chunk for each group of rooms with a dependency of its own or that only some programs use: a bundler leaves out lru-cache
 * with the caches, luxon with the calendar, the cluster. More chunks would make the import slower.
 */
const CHUNKS = [
  ['cache', /^(cache|group|callable)\//],
  ['cron', /^calendar\/cron\.ts$/],
  ['calendar', /^calendar\/(daily-at|during-hours|local-time|time-of-day)\.ts$/],
  // All of the cluster that `tickless` itself imports, for `lockedTask`.
  [
    'task',
    /^(cluster\/(locked-task|task-runs|running-tasks|lease-requests|(acquire|held)-lease|answer-watch|backend-(access|patience)|circuit-breaker|damage|identity|longest-lease|namespace|plausible|registration|time-limits|unavailable))\.ts$/,
  ],
  ['cluster', /^cluster\//],
  [
    'engine',
    /^(engine|due|guard|options|schedule|value|data\/(count-of|id-of|value-meta|backup|origin|late-deep-equal|late-import|close-report|content-digest|execution-record)|errors|json|bounded-json|name-hints|printable|whole-words|option-checks|option-error|plain-object|schema|time|observe)\b/,
  ],
];
const folder = join(root, 'src/').replaceAll('\\', '/');

function chunkOf(id) {
  const file = id.replaceAll('\\', '/');
  if (!file.startsWith(folder) || !/(?<!\.d)\.ts$/.test(file)) return null;
  const path = file.slice(folder.length);
  return CHUNKS.find(([, rooms]) => rooms.test(path))?.[0] ?? null;
}

const packages = [...Object.keys(dependencies), ...Object.keys(peerDependencies)];

await build({
  cwd: root,
  input: Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
  platform: 'neutral',
  preserveEntrySignatures: 'allow-extension', // as `codeSplitting` below needs it
  checks: { pluginTimings: false },
  external: [/^node:/, ...packages.map((name) => new RegExp(`^${name}(/|$)`))],
  // `oxc`: each declaration from its own file, as `isolatedDeclarations` allows, without the compiler.
  plugins: [dts({ oxc: true, sourcemap: false }), slimMaps, namesLibrary, noCycle],
  experimental: { attachDebugInfo: 'none' }, // the maps tell which file a line is from
  output: {
    dir: folderOfOutput,
    cleanDir: true,
    chunkFileNames: 'shared/[name].js',
    sourcemap: true,
    codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: chunkOf }] },
    comments: { jsdoc: false },
  },
});

// The command `tickless`: one file with its packages, for those that run it only.
const { metafile, outputFiles } = await bundle({
  absWorkingDir: root,
  entryPoints: ['src/cli/main.ts'],
  outfile: join(folderOfOutput, 'cli.js'),
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  legalComments: 'none',
  write: false,
  metafile: true,
  banner: {
    js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
  },
});
const inCommand = packagesIn(metafile);
const [{ path: command, text }] = outputFiles;
writeFileSync(command, `#!/usr/bin/env node\n${noticeOf(inCommand)}\n${text}`);
chmodSync(command, 0o755);

const notices = noticesOf([...inEntries, inCommand].flat());
writeFileSync(resolve(root, folderOfOutput, 'THIRD-PARTY-NOTICES.txt'), notices);
