// Runs what is written for NestJS on the built package (`npm run build` first), with NestJS 12, which it installs into
// examples/nestjs, and NestJS 11, into test/system/nestjs: compiles src/nestjs against their types, the example, the service of
// docs/nestjs.md and the tests with the compiler of this repository, as a user of NestJS does, and runs them.
//
// Prints one line for each, and exits with 1 when one fails.

import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { installApart } from './support/apart.mjs';
import { scriptArguments } from './support/arguments.mjs';
import { codeBlocksOf } from './support/code-blocks.mjs';
import { root, tool } from './support/project.mjs';
import { run } from './support/run.mjs';

scriptArguments();

const example = join(root, 'examples/nestjs');
const tests = join(root, 'test/system/nestjs');
const PROMISED = [
  /^\/rates: 200, Age: \d+, \{"USD":1.08,"GBP":0.86\}$/m,
  /^\/cities\/1012: 200, \{"city":"City of 1012"\}$/m,
  /^\/ready: 200, \{"status":"ok",/m,
  /^rates were loaded by [12] of 2 instances$/m,
  /^[23] reports, each sent once: true$/m,
];

/** The package as a user has it: its own files, beside those of NestJS. In place of the link, whose imports of NestJS would start here. */
function installPackage(folder) {
  const place = join(folder, 'node_modules/tickless');
  rmSync(place, { recursive: true, force: true });
  for (const part of ['dist', 'package.json'])
    cpSync(join(root, part), join(place, part), { recursive: true });
}

/** The sources in a folder of their own, where the packages of that version are found. */
function programsFor(folder, version) {
  const place = join(root, '.tmp', `nestjs-${version}`);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(join(place, 'docs'), { recursive: true });
  symlinkSync(join(folder, 'node_modules'), join(place, 'node_modules'), 'junction');
  writeFileSync(join(place, 'package.json'), '{ "type": "module" }\n');
  for (const file of ['main.ts', 'shop.ts']) cpSync(join(example, file), join(place, file));
  for (const file of ['nestjs.test.ts']) cpSync(join(tests, file), join(place, file));
  const config = JSON.parse(readFileSync(join(example, 'tsconfig.json'), 'utf8'));
  const typeRoots = [join(root, 'node_modules/@types')];
  const compilerOptions = { ...config.compilerOptions, typeRoots, outDir: 'out', rootDir: '.' };
  writeFileSync(
    join(place, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['*.ts', 'docs/*.ts'] }),
  );
  for (const { language, code } of codeBlocksOf(readFileSync(join(root, 'docs/nestjs.md'), 'utf8'))) {
    const file = /^\/\/ src\/(.+\.ts)$/.exec(code[0] ?? '')?.[1];
    if (language === 'ts' && file) writeFileSync(join(place, 'docs', basename(file)), code.join('\n'));
  }
  // The room itself, whose own declarations of NestJS are left out.
  cpSync(join(root, 'src'), join(place, 'src'), {
    recursive: true,
    filter: (path) => !path.endsWith('nest.d.ts') && !path.includes('/page'),
  });
  const ofRoom = { extends: join(root, 'tsconfig.json'), include: ['src/nestjs'], exclude: [] };
  writeFileSync(join(place, 'tsconfig.room.json'), JSON.stringify(ofRoom));
  return place;
}

async function check(title, command, options, isFine = () => true) {
  const { code, output, seconds } = await run(command, { timeoutMs: 120_000, ...options });
  const isDone = code === 0 && isFine(output);
  console.log(`${isDone ? 'ok  ' : 'failed:'} ${title} (${seconds.toFixed(1)} s)`);
  if (isDone) return;
  console.log(output.trimEnd().replace(/^/gm, '     '));
  process.exitCode = 1;
}

for (const folder of [example, tests]) {
  await installApart(folder);
  installPackage(folder);
  const { version } = JSON.parse(
    readFileSync(join(folder, 'node_modules/@nestjs/core/package.json'), 'utf8'),
  );
  const place = programsFor(folder, version.split('.')[0]);
  const named = (title) => `NestJS ${version}: ${title}`;
  const tsc = (config) => tool('typescript', ['-p', join(place, config)], 'tsc');
  await check(named('types of src/nestjs'), tsc('tsconfig.room.json'));
  await check(named('compiles the example, the docs and the tests'), tsc('tsconfig.json'));
  const node = (...args) => [process.execPath, ...args.map((file) => join('out', file))];
  const promises = (output) => PROMISED.every((line) => line.test(output));
  await check(named('the example'), node('main.js'), { cwd: place }, promises);
  await check(
    named('tests'),
    [
      process.execPath,
      '--test',
      '--test-reporter=spec',
      '--test-timeout=30000',
      join('out', 'nestjs.test.js'),
    ],
    { cwd: place },
  );
}
