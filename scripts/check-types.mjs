// Type-checks what a user writes (scripts/support/consumer.ts) and all entries of the built package (`npm run build` first) with
// TypeScript 5.4, 5.9, 6.0 and that of this repository, in each way of finding modules, with and without
// exactOptionalPropertyTypes, with the default library and others; also the declarations themselves. Half of the runs are without
// the types of Node, which three entries alone need. Installs the earlier versions where they are missing.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, posix } from 'node:path';
import { scriptArguments } from './support/arguments.mjs';
import { npm, root } from './support/project.mjs';
import { run, severalAtOnce } from './support/run.mjs';

scriptArguments();

const compilers = join(root, 'test/system/compilers');
const folder = join(root, '.tmp/types'); // inside the repository, so that `tickless` is found by its `exports`

const earlier = ['5.4', '5.9', '6.0'].map((version) =>
  join(compilers, 'node_modules', `typescript-${version}`),
);
if (!earlier.every((path) => existsSync(path))) {
  const { code, output } = await run(npm(['ci', '--ignore-scripts', '--prefix', compilers]));
  if (code !== 0) throw new Error(output);
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** Without that of NestJS, whose types are installed by scripts/nestjs.mjs, which checks it. */
const entries = Object.keys(exports).filter((subpath) => exports[subpath].types && subpath !== './nestjs');
const importsOf = (subpaths) =>
  subpaths.map((subpath, at) => `export * as entry${at} from '${posix.join(name, subpath)}';\n`).join('');
copyFileSync(join(root, 'scripts/support/consumer.ts'), join(folder, 'consumer.ts'));
writeFileSync(join(folder, 'all-entries.ts'), importsOf(entries));
const withoutNode = entries.filter(
  (subpath) => !['./console/node', './fastify', './openfeature'].includes(subpath),
);
writeFileSync(join(folder, 'entries.ts'), importsOf(withoutNode));

/** `types` left out: before TypeScript 6 all that are installed, here those of Node alone; since then none. */
const typeRoots = [join(folder, 'type-roots')];
mkdirSync(typeRoots[0]);
symlinkSync(join(root, 'node_modules/@types/node'), join(typeRoots[0], 'node'), 'junction');

const DISPOSABLE = ['ES2022', 'ESNext.Disposable', 'DOM'];
const nodenext = { module: 'nodenext' };
const ways = [
  ...[{ module: 'node16' }, nodenext, { module: 'esnext', moduleResolution: 'bundler' }].flatMap(
    (resolution) => [
      { ...resolution, lib: DISPOSABLE, types: [], exactOptionalPropertyTypes: true },
      { ...resolution, lib: DISPOSABLE, types: ['node'] },
    ],
  ),
  // The library that the target has by default, and others without `Symbol.asyncDispose`, which the declarations name themselves.
  { ...nodenext, types: [] },
  { ...nodenext, typeRoots },
  { ...nodenext, lib: ['ES2022', 'DOM'], types: [] },
  { ...nodenext, lib: ['ES2022', 'DOM'], typeRoots },
  { ...nodenext, lib: ['ES2022'], types: ['node'] },
];
const compilerFolders = [...earlier, join(root, 'node_modules/typescript')];
const all = compilerFolders.flatMap((compiler) => ways.map((way, at) => ({ compiler, way, at })));

/** The options that differ, as a person reads them. */
function nameOf({ module, moduleResolution = module, lib, types, exactOptionalPropertyTypes }) {
  const libraries = lib === undefined ? 'default lib' : `lib ${lib.join(' ')}`;
  const packages = types === undefined ? 'types left out' : `types [${types}]`;
  const exact = exactOptionalPropertyTypes ? ['exactOptionalPropertyTypes'] : [];
  return [moduleResolution, libraries, packages, ...exact].join(', ');
}

let failed = 0;
await severalAtOnce(all, async ({ compiler, way, at }) => {
  const { version } = JSON.parse(readFileSync(join(compiler, 'package.json'), 'utf8'));
  const config = join(folder, `${version}-${at}.json`);
  const compilerOptions = { target: 'ES2022', strict: true, skipLibCheck: false, noEmit: true, ...way };
  const files = ['consumer.ts', way.types?.includes('node') ? 'all-entries.ts' : 'entries.ts'];
  writeFileSync(config, JSON.stringify({ compilerOptions, files }));
  const { code, output } = await run([process.execPath, join(compiler, 'bin/tsc'), '-p', config]);
  const name = `TypeScript ${version}, ${nameOf(way)}`;
  console.log(code === 0 ? `ok   ${name}` : `failed: ${name}\n${output}`);
  if (code !== 0) failed += 1;
});
console.log(`${all.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
