// npm test: all that a change needs, in three minutes on two processors. Installs nothing.
// npm run test:all: all the rest, in half an hour. Says first what it installs, and asks nothing.
// node scripts/test.mjs both: the steps of both, in one run.
//
//   --list             the steps of both
//   --only <name>…     these steps
//
// The last line is `N passed, N failed`.

import { join } from 'node:path';
import { scriptArguments } from './support/arguments.mjs';
import { root, tool, vitest, vitestOf } from './support/project.mjs';
import { runSteps } from './support/steps.mjs';
import { setup as generateThreadCode } from './thread-code.mjs';

/**
 * @param {string} name
 * @param {string} title
 * @param {string[]} command
 * @param {Partial<import('./support/steps.mjs').Step>} [more]
 */
const step = (name, title, command, more = {}) => ({ name, title, command, ...more });
const script = (file, ...args) => [process.execPath, join(root, 'scripts', `${file}.mjs`), ...args];
const tsc = (...args) => tool('typescript', ['--noEmit', ...args], 'tsc');
const inProjects = (projects) => ['--reporter=dot', ...projects.map((project) => `--project=${project}`)];
const tests = (...projects) => vitest(...inProjects(projects));
const after = (...names) => ({ after: names });
const alone = { alone: true };

/** Some of their runs; `npm run test:all` tries them in full. */
const fewRuns = { env: { TICKLESS_PROPERTY_RUNS: '30' } };
const arrows = ['--config', 'scripts/arrows.config.mjs', 'src'];
const unused = ['--config', 'scripts/knip.jsonc', '--treat-config-hints-as-errors'];

/** The longest first, where nothing else orders them. */
const QUICK = [
  step('build', 'build', script('build')),
  step('unit', 'unit tests', [...tests('unit', 'isolated'), '--maxWorkers=2'], fewRuns),
  step('format', 'format and lint', tool('@biomejs/biome', ['ci', '.', '--colors=off'], 'biome')),
  step('types', 'types', tsc('-p', '.'), after('build')),
  step(
    'decorators',
    'types of experimental decorators',
    tsc('-p', 'test/contract/types/tsconfig.experimental.json'),
    after('build'),
  ),
  step('core', 'core without Node', tsc('-p', 'scripts/tsconfig.core.json')),
  step('arrows', 'import arrows', tool('dependency-cruiser', arrows, 'depcruise')),
  step('unused', 'unused code and dependencies', tool('knip', unused)),
  step('size', 'size of imports', tool('size-limit', []), after('build')),
  step('package', 'package', script('check-package'), after('build')),
  step('prose', 'prose', script('check-prose')),
  step('walk', 'figures of ARCHITECTURE', script('walk', '--check')),
  step('names', 'names in the documents', script('check-names')),
  step('cheatsheet', 'cheat sheet', script('cheatsheet', '--check')),
  step('docs', 'code blocks of the documents', script('run-docs', '--only', 'plain'), after('build')),
  step('examples', 'examples', tests('examples'), after('build')),
  step(
    'property',
    'properties, few runs',
    [...tests('property'), '--exclude=test/property/{clock-changes.test.ts,fuzz/**}'],
    fewRuns,
  ),
  step('worlds', 'simulated clusters, fixed seeds', script('simulate', '--from', '1', '--seeds', '4')),
];

const REST = [
  step('servers', 'drivers and servers', script('install-servers'), {
    installs:
      'drivers, PostgreSQL, workerd and Node 24 from npm, into test/system/integration; ' +
      'redis-server, mariadb-server, etcd-server, pgbouncer and faketime by apt-get, as root on Debian',
  }),
  step('built', 'build', script('build')),
  step('integration', 'tests with real servers', script('integration'), after('servers')),
  step('speed', 'speed beside others', script('bench', 'gate'), {
    ...after('built'),
    ...alone,
    installs: 'what it is measured beside from npm, into bench',
  }),
  step('import', 'time of the import', script('import-time'), { ...after('built'), ...alone }),
  step('faults', 'faults with real processes', script('faults', '--quick'), {
    ...after('servers'),
    ...alone,
  }),
  step(
    'docs-drivers',
    'code blocks that import drivers or other libraries',
    script('run-docs', '--drivers', '--peers', '--only', 'apart'),
    {
      ...after('built', 'servers'),
      installs: 'the library of docs/openfeature.md from npm, into test/system/openfeature',
    },
  ),
  step('compilers', 'drivers under TypeScript 5.4, 5.9 and 7', script('check-compilers'), {
    ...after('built', 'servers'),
    installs: 'TypeScript 5.4 and 5.9 from npm, into test/system/compilers',
  }),
  step('consumer-types', 'types of all entries under TypeScript 5.4 to 7', script('check-types'), {
    ...after('built', 'compilers'), // into the same folder
    installs: 'TypeScript 5.4, 5.9 and 6.0 from npm, into test/system/compilers',
  }),
  step('site', 'documentation site, with its links', script('site'), {
    ...after('built'),
    installs: 'VitePress, typedoc and TypeScript 6 from npm, into site',
  }),
  step('cluster-demo', 'demo of a cluster', script('demo', '--cluster', '--seconds', '20'), {
    ...after('built'),
    ...alone, // leases of two seconds
    installs: 'PostgreSQL and its driver from npm, into examples/demo/cluster/packages',
  }),
  step('demo', 'demo', script('demo', '--seconds', '5'), after('built')),
  step('slow', 'unit tests that take longer', tests('slow')),
  step('system', 'processes, Jest, soak in virtual time', tests('system'), {
    ...after('built'),
    installs: 'Jest from npm, into test/system/jest; faketime by apt-get, as root on Debian',
  }),
  step('console', 'console in Chromium', script('console'), {
    ...alone,
    installs:
      'playwright-core and axe-core from npm, into test/system/console; chromium by apt-get, as root on Debian',
  }),
  step('console-firefox', 'console in Firefox', script('console', '--firefox', '--brief'), {
    ...after('console'),
    installs: 'the same, and firefox-esr',
  }),
  step('soak', 'soak', script('soak', '--real', '--seconds', '60'), after('servers')),
  step('simulation', 'simulated clusters', script('simulate', '--ci')),
  step('properties', 'properties in full', [
    ...vitestOf('test/support/fast-check.ts', ...inProjects(['unit', 'isolated', 'property'])),
    '--exclude=test/property/fuzz/**', // the next step has them
  ]),
  step('fuzz', 'fuzz', script('fuzz', '--runs', '2000')),
  step('planted', 'planted faults', script('planted')),
  step('nestjs', 'NestJS 11 and 12', script('nestjs'), {
    ...after('built'),
    installs: 'NestJS from npm, into examples/nestjs and test/system/nestjs',
  }),
  step('openfeature', "rules of flags in flagd's format", script('openfeature'), {
    installs: '@openfeature/flagd-core from npm, into test/system/openfeature',
  }),
  step('mutation', 'mutation of what changed', script('mutation', '--changed'), {
    installs: 'Stryker from npm, into test/system/mutation',
  }),
  step('runtimes', 'other runtimes', script('check-runtimes'), {
    ...after('built'),
    installs: 'Node 22 to 26, Deno, Bun and workerd from npm, a gigabyte, into test/system/runtimes',
  }),
];

const { values, positionals } = scriptArguments(
  { list: { type: 'boolean' }, only: { type: 'string', multiple: true } },
  { name: 'npm test', choices: ['all', 'both'], most: 1 },
);
const [which = 'quick'] = positionals;
if (values.list) {
  for (const [command, steps] of Object.entries({ 'npm test': QUICK, 'npm run test:all': REST })) {
    console.log(command);
    for (const { name, title, installs } of steps) {
      console.log(`  ${name.padEnd(14)} ${title}${installs ? ` (installs ${installs})` : ''}`);
    }
  }
  process.exit();
}

/** One build is enough for both. */
const BOTH = [
  ...QUICK,
  ...REST.filter(({ name }) => name !== 'built').map(({ after = [], ...rest }) => ({
    ...rest,
    after: after.map((name) => (name === 'built' ? 'build' : name)),
  })),
];
const steps = { quick: QUICK, all: REST, both: BOTH }[which];
/** In `npm run test:all`, a step of `npm test` may be named too. */
const known = which === 'all' ? [...REST, ...QUICK] : steps;
const named = values.only ?? [];
const unknown = named.filter((name) => !known.some((step) => step.name === name));
if (unknown.length > 0) {
  console.error(`not a step (${known.map(({ name }) => name).join(', ')}): ${unknown.join(', ')}`);
  process.exit(2);
}
const chosen = values.only === undefined ? steps : known.filter(({ name }) => needed(named).has(name));

/** These steps, and those that they come after. */
function needed(names) {
  const before = known.flatMap(({ name, after = [] }) => (names.includes(name) ? after : []));
  return new Set([...names, ...before]);
}

for (const { title, installs } of chosen)
  if (installs) console.log(`${title}: installs, where missing, ${installs}`);
await generateThreadCode(); // several steps read it
process.exitCode = (await runSteps(chosen)) ? 0 : 1;
