// npm test: all that a change needs, in three minutes on two processors. Installs nothing.
// npm run test:all: all the rest, in half an hour. Says first what it installs, and asks nothing.
//
//   --list             the steps of both
//   --only <name>…     these steps
//
// The last line is `N passed, N failed`.

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root, tool } from './support/project.mjs';
import { runSteps } from './support/steps.mjs';
import { setup as generateThreadCode } from './thread-code.mjs';

const script = (file, ...args) => [process.execPath, join(root, 'scripts', file), ...args];
const tsc = (...args) => tool('typescript', ['--noEmit', ...args], 'tsc');
const vitest = (...projects) =>
  tool('vitest', [
    ...['run', '--reporter=dot', `--reporter=${join(root, 'scripts/support/vitest-reporter.mjs')}`],
    ...projects.map((project) => `--project=${project}`),
  ]);

/** Enough to see a property broken at every second change; `npm run test:all` tries them in full. */
const fewRuns = { TICKLESS_PROPERTY_RUNS: '50' };

/** The longest first, where nothing else orders them. */
const QUICK = [
  { name: 'build', title: 'build', command: script('build.mjs') },
  { name: 'unit', title: 'unit tests', command: vitest('unit', 'isolated'), env: fewRuns },
  {
    name: 'format',
    title: 'format and lint',
    command: tool('@biomejs/biome', ['ci', '.', '--colors=off'], 'biome'),
  },
  { name: 'types', title: 'types', command: tsc('-p', '.'), after: ['build'] },
  { name: 'core', title: 'core without Node', command: tsc('-p', 'scripts/tsconfig.core.json') },
  {
    name: 'arrows',
    title: 'import arrows',
    command: tool('dependency-cruiser', ['--config', 'scripts/arrows.config.mjs', 'src'], 'depcruise'),
  },
  {
    name: 'unused',
    title: 'unused code and dependencies',
    command: tool('knip', ['--config', 'scripts/knip.jsonc', '--treat-config-hints-as-errors']),
  },
  { name: 'size', title: 'size of imports', command: tool('size-limit', []), after: ['build'] },
  { name: 'package', title: 'package', command: script('check-package.mjs'), after: ['build'] },
  { name: 'prose', title: 'prose', command: script('check-prose.mjs') },
  { name: 'docs', title: 'code blocks of the documents', command: script('run-docs.mjs'), after: ['build'] },
  { name: 'examples', title: 'examples', command: vitest('examples'), after: ['build'] },
  {
    name: 'property',
    title: 'properties, few runs',
    command: [...vitest('property'), '--exclude=test/property/clock-changes.test.ts'],
    env: fewRuns,
  },
  {
    name: 'worlds',
    title: 'simulated clusters, fixed seeds',
    command: script('simulate.mjs', '--from', '1', '--seeds', '20'),
  },
  { name: 'demo', title: 'demo', command: script('demo.mjs', '--seconds', '5'), after: ['build'] },
];

const REST = [
  {
    name: 'servers',
    title: 'drivers and servers',
    command: script('install-servers.mjs'),
    installs:
      'drivers, PostgreSQL and Node 24 from npm, into test/system/integration; ' +
      'redis-server, mariadb-server and faketime by apt-get, as root on Debian',
  },
  { name: 'built', title: 'build', command: script('build.mjs') },
  {
    name: 'speed',
    title: 'speed beside others',
    command: script('check-speed.mjs'),
    after: ['built'],
    alone: true,
  },
  {
    name: 'import',
    title: 'time of the import',
    command: script('import-time.mjs'),
    after: ['built'],
    alone: true,
  },
  {
    name: 'integration',
    title: 'tests with real servers',
    command: script('integration.mjs'),
    alone: true,
    after: ['servers'],
  },
  {
    name: 'faults',
    title: 'faults with real processes',
    command: script('faults.mjs', '--quick'),
    alone: true,
    after: ['servers'],
  },
  {
    name: 'docs-drivers',
    title: 'code blocks that import drivers',
    command: script('run-docs.mjs', '--drivers'),
    after: ['built', 'servers'],
  },
  {
    name: 'cluster-demo',
    title: 'demo of a cluster',
    command: script('demo.mjs', '--cluster', '--seconds', '20'),
    after: ['built', 'servers'],
    alone: true, // leases of two seconds
  },
  {
    name: 'system',
    title: 'processes, Jest, soak in virtual time',
    command: vitest('system'),
    after: ['built'],
    installs: 'Jest from npm, into test/system/jest; faketime by apt-get, as root on Debian',
  },
  {
    name: 'soak',
    title: 'soak',
    command: script('soak.mjs', '--real', '--seconds', '60'),
    after: ['servers'],
  },
  { name: 'simulation', title: 'simulated clusters', command: script('simulate.mjs', '--ci') },
  { name: 'properties', title: 'properties in full', command: vitest('unit', 'property') },
  { name: 'fuzz', title: 'fuzz', command: script('fuzz.mjs', '--runs', '2000') },
  { name: 'planted', title: 'planted faults', command: script('planted.mjs') },
  {
    name: 'mutation',
    title: 'mutation of what changed',
    command: script('mutation.mjs', '--changed'),
    installs: 'Stryker from npm, into test/system/mutation',
  },
  {
    name: 'runtimes',
    title: 'other runtimes',
    command: script('check-runtimes.mjs'),
    after: ['built'],
    installs: 'Node 22 to 26, Deno, Bun and workerd from npm, a gigabyte, into test/system/runtimes',
  },
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { list: { type: 'boolean', default: false }, only: { type: 'string', multiple: true } },
});
if (values.list) {
  for (const [command, steps] of Object.entries({ 'npm test': QUICK, 'npm run test:all': REST })) {
    console.log(command);
    for (const { name, title, installs } of steps) {
      console.log(`  ${name.padEnd(14)} ${title}${installs ? ` (installs ${installs})` : ''}`);
    }
  }
  process.exit();
}

/** In `npm run test:all`, a step of `npm test` may be named too. */
const named = positionals.includes('all') ? [...REST, ...QUICK] : QUICK;
const unknown = (values.only ?? []).filter((name) => !named.some((step) => step.name === name));
if (unknown.length > 0) {
  console.error(`not a step (${named.map(({ name }) => name).join(', ')}): ${unknown.join(', ')}`);
  process.exit(2);
}
const steps =
  values.only === undefined
    ? positionals.includes('all')
      ? REST
      : QUICK
    : named.filter(({ name }) => values.only.includes(name) || needed(values.only).has(name));

/** What the chosen steps come after. */
function needed(names) {
  return new Set(named.flatMap(({ name, after = [] }) => (names.includes(name) ? after : [])));
}

for (const { title, installs } of steps)
  if (installs) console.log(`${title}: installs, where missing, ${installs}`);
await generateThreadCode(); // several steps read it
process.exitCode = (await runSteps(steps)) ? 0 : 1;
