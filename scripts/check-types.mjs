// Type-checks what a user writes (scripts/support/consumer.ts) and all entries of the built package (`npm run build` first) with
// TypeScript 5.4, 5.9, 6.0 and that of this repository, in each way of finding modules, with and without
// exactOptionalPropertyTypes; also the declarations themselves. Half of the runs are without the types of Node, which three entries alone
// need. Installs the earlier versions where they are missing.

import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

const resolutions = [
  { module: 'node16' },
  { module: 'nodenext' },
  { module: 'esnext', moduleResolution: 'bundler' },
];
const all = [...earlier, join(root, 'node_modules/typescript')].flatMap((compiler) =>
  resolutions.flatMap((resolution) => [true, false].map((exact) => ({ compiler, resolution, exact }))),
);

let failed = 0;
await severalAtOnce(all, async ({ compiler, resolution, exact }) => {
  const { version } = JSON.parse(readFileSync(join(compiler, 'package.json'), 'utf8'));
  const { module, moduleResolution = module } = resolution;
  const config = join(folder, `${version}-${moduleResolution}-${exact}.json`);
  const compilerOptions = {
    ...resolution,
    target: 'ES2022',
    lib: ['ES2022', 'ESNext.Disposable', 'DOM'],
    types: exact ? [] : ['node'],
    strict: true,
    exactOptionalPropertyTypes: exact,
    skipLibCheck: false,
    noEmit: true,
  };
  writeFileSync(
    config,
    JSON.stringify({ compilerOptions, files: ['consumer.ts', exact ? 'entries.ts' : 'all-entries.ts'] }),
  );
  const { code, output } = await run([process.execPath, join(compiler, 'bin/tsc'), '-p', config]);
  const name = `TypeScript ${version}, ${moduleResolution}${exact ? ', exactOptionalPropertyTypes' : ''}`;
  console.log(code === 0 ? `ok   ${name}` : `FAIL ${name}\n${output}`);
  if (code !== 0) failed += 1;
});
console.log(`${all.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
