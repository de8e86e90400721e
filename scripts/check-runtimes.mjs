// Runs test/system/runtimes/program.mjs on the built package (`npm run build` first) under this Node and the other runtimes:
// Node 22, 24 and 26, Deno, Bun, and workerd, which Cloudflare Workers run on; and the unit tests: all of them under the newest Node,
// those of files, threads, clocks and time zones under the others.
// The others have no Vitest: the program has the core, and both conformance suites on memory. Linux on x64. Not part of npm
// test: it installs a gigabyte of runtimes into test/system/runtimes/packages/node_modules.
//
//   --only <name>      those whose names begin with it, such as workerd

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'vite';
import { checkConsole } from '../test/system/runtimes/console-checks.mjs';
import { scriptArguments } from './support/arguments.mjs';
import { root } from './support/project.mjs';
import { printTable } from './support/table.mjs';

const { only } = scriptArguments({ only: { type: 'string', default: '' } }).values;
const folder = join(root, 'test/system/runtimes');
const packages = join(folder, 'packages');
const runtime = (...path) => join(packages, 'node_modules', ...path);
const main = join(folder, 'main.mjs');

const commands = {
  [`node ${process.versions.node}`]: [process.execPath, main],
  'node 22': [runtime('node22/bin/node'), main],
  'node 24': [runtime('node24/bin/node'), main],
  'node 26': [runtime('node26/bin/node'), main],
  deno: [runtime('@deno/linux-x64-glibc/deno'), 'run', '--allow-all', '--no-lock', main],
  bun: [runtime('@oven/bun-linux-x64/bin/bun'), 'run', main],
};

const names = [...Object.keys(commands), 'workerd', 'workerd nodejs_compat'];
if (!names.some((name) => name.startsWith(only))) {
  console.error(`--only: no runtime begins with ${JSON.stringify(only)}: ${names.join(', ')}`);
  process.exit(2);
}

if (!existsSync(runtime('miniflare'))) {
  const npm = spawnSync('npm', ['ci', '--ignore-scripts', '--prefix', packages], { stdio: 'inherit' });
  if (npm.status !== 0) process.exit(1);
}

/** What is not run there, and why. */
const LEFT_OUT = {
  [`node ${process.versions.node}`]: 'unit tests: npm test runs them',
  'node 22': 'unit tests: those of files, threads, clocks and time zones',
  'node 24': 'the same',
  deno: 'unit tests: Vitest runs on Node; console: in unit tests',
  bun: 'unit tests: Vitest runs on Node; console: in unit tests',
  workerd: 'unit tests, as in Deno; threads and files: it has none',
  'workerd nodejs_compat': 'the same',
};

/** By the name of the runtime: the result of each part. */
const results = new Map();
let [passed, failed] = [0, 0];

function report(name, part, text, hasFailed) {
  console.log(`${hasFailed ? 'failed: ' : ''}${name}: ${part}: ${text}`);
  if (hasFailed) failed += 1;
  else passed += 1;
  const [firstLine] = text.split('\n');
  results.set(name, { ...results.get(name), [part]: hasFailed ? 'FAILED' : firstLine });
}

for (const [name, [command, ...args]] of Object.entries(commands)) {
  if (!name.startsWith(only)) continue;
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', timeout: 60_000 });
  report(name, 'core', (stdout || stderr || String(error)).trim(), status !== 0);
}

/** The tests of what differs from one Node to the next. */
const OF_PLATFORM = [
  'test/contract/',
  ...['files', 'lock', 'schedule', 'store', 'time', 'worker'].map((name) => `test/unit/${name}/`),
];
const NEWEST = '26';

/** What the last lines of Vitest say, without colours: `4312 passed`. */
function unitTests(node, paths) {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--project=unit', '--project=isolated', '--reporter=dot', ...paths];
  const env = { ...process.env, NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(node, args, {
    cwd: root,
    env,
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  const [, counts = 'no result'] = /^ +Tests +(.*?)(?: \(\d+\))?$/m.exec(stdout) ?? [];
  const failures = `${stdout}\n${stderr}`.match(/^ *(?:FAIL |\S*Error: ).*$/gm) ?? [];
  const named = failures.map((line) => line.trim()).join('; '); // in one line: the last lines of all repeat it
  return { text: named === '' ? counts : `${counts}: ${named}`, hasFailed: status !== 0 };
}

for (const version of ['22', '24', NEWEST]) {
  if (!`node ${version}`.startsWith(only)) continue;
  const paths = version === NEWEST ? [] : OF_PLATFORM;
  const { text, hasFailed } = unitTests(runtime(`node${version}/bin/node`), paths);
  report(`node ${version}`, 'unit tests', text, hasFailed);
}

/** A program and the library in one module: workerd resolves no packages. */
async function bundle(program) {
  const [result] = await build({
    root: folder,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      minify: false,
      lib: { entry: join(folder, program), formats: ['es'] },
      // Vite would put an empty module in the place of one of Node. Without nodejs_compat workerd refuses it. An optional package
      // would be run at the start, where it is imported late.
      rollupOptions: { external: /^(node:|csv-parse)/, output: { inlineDynamicImports: true } },
    },
  });
  return { type: 'ESModule', path: program, contents: result.output[0].code };
}

const { Miniflare } = createRequire(join(packages, 'package.json'))('miniflare');
const worker = `import { runAll, readAfterBurst } from './program.mjs';
import { answer } from './console.mjs';
const actions = { '/': runAll, '/burst': () => readAfterBurst(5000), '/after': () => readAfterBurst(0) };
export default {
  async fetch(request) {
    const action = actions[new URL(request.url).pathname];
    if (action === undefined) return answer(request);
    try { return new Response(await action()) } catch (error) { return new Response(error.message, { status: 500 }) }
  }
};`;
const modules = [
  { type: 'ESModule', path: 'worker.mjs', contents: worker },
  ...(await Promise.all(['program.mjs', 'console.mjs'].map(bundle))),
];
for (const flags of [[], ['nodejs_compat']]) {
  const name = ['workerd', ...flags].join(' ');
  if (!name.startsWith(only)) continue;
  const miniflare = new Miniflare({ compatibilityDate: '2026-04-01', compatibilityFlags: flags, modules });
  const fetch = (path, init) => miniflare.dispatchFetch(`http://localhost${path}`, init);
  try {
    const response = await fetch('/');
    report(name, 'core', await response.text(), !response.ok);
    // What a request has left to be called is dropped when it ends. The next one is to see that the value is too old.
    await fetch('/burst');
    await sleep(1000);
    const after = await (await fetch('/after')).text();
    report(name, 'reads after a request', after, after !== 'TOO_STALE');
    const deadline = sleep(30_000, 'the console: no answer within 30 s', { ref: false });
    const shown = await Promise.race([checkConsole(fetch), deadline]).catch((error) => error.message);
    report(name, 'console', shown, shown !== 'the console');
  } finally {
    await miniflare.dispose();
  }
}
const rows = Array.from(results, ([name, { core = '', 'unit tests': unit = '', console: shown = '' }]) => [
  ...[name, core, unit, shown === 'the console' ? 'passed' : shown],
  LEFT_OUT[name] ?? '',
]);
printTable(['runtime', 'core and both suites', 'unit tests', 'console', 'not run there'], rows);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
