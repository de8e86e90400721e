// Checks the direction of imports in src (docs/ARCHITECTURE.md).
//
//   node scripts/check-arrows.mjs            src of this repository
//   node scripts/check-arrows.mjs <folder>   another tree with the same layout (its own test does that)
//
// Prints one line per violation, `file:line imports X: rule`, and exits with 1 where there is one.
//
// Type-only imports count like any other: what a layer may name is what it may know. Only the rule against cycles
// leaves them out, since they are gone when the modules run.

import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { importsOf } from './support/imports.mjs';
import { root, shown } from './support/project.mjs';

// ---- the rules --------------------------------------------------------------------------------------------------

/** Lowest first. A file may import files of its own layer and of those below it. `x/*` is every file under x. */
const LAYERS = [
  {
    name: 'base',
    files: [
      'clock.ts',
      'after-turn.ts',
      'burst-clock.ts',
      'duration.ts',
      'engine-clock.ts',
      'errors.ts',
      'clean-context.ts',
      'option-checks.ts',
      'bounded.ts',
    ],
  },
  {
    name: 'contracts',
    files: [
      'lock/contract.ts',
      'lock/identity.ts',
      'store/contract.ts',
      'store/damage.ts',
      'sql/*',
      'files/*',
      'redis/*',
      'mongodb/*',
    ],
  },
  {
    name: 'pure parts',
    files: [
      'schedule/*',
      'executor/answer.ts',
      'executor/cool-down.ts',
      'executor/decide.ts',
      'executor/deferred.ts',
      'executor/due-heap.ts',
      'executor/elsewhere.ts',
      'executor/entry.ts',
      'executor/keeper.ts',
      'executor/load-context.ts',
      'executor/next-execution.ts',
      'executor/refusal.ts',
      'executor/retry-after.ts',
      'executor/waiters.ts',
    ],
  },
  {
    name: 'mechanisms',
    files: ['executor/flight.ts', 'executor/retry.ts', 'observe/*'],
  },
  {
    name: 'options',
    files: ['options.ts', 'failure-options.ts', 'membership.ts', 'policy.ts'],
  },
  { name: 'cluster', files: ['cluster/*'] },
  {
    name: 'engine',
    files: [
      'executor/clock-watch.ts',
      'executor/timing.ts',
      'executor/intake.ts',
      'executor/status.ts',
      'executor/health.ts',
      'executor/teller.ts',
      'executor/launcher.ts',
      'executor/starter.ts',
      'executor/reader.ts',
      'executor/refresher.ts',
      'executor/pump.ts',
    ],
  },
  {
    name: 'executor',
    files: [
      'executor/lifecycle.ts',
      'executor/entry-member.ts',
      'executor/periodic.ts',
      'executor/periodic-executor.ts',
    ],
  },
  { name: 'cache', files: ['cache/*'] },
  { name: 'index', files: ['index.ts'] },
];

/** Entries of their own: each may import its own files and the layers named. Nothing but themselves imports them. */
const OUTSIDE = [
  { name: 'testing', files: ['testing/*'], mayImport: ['base', 'contracts'] },
  { name: 'worker', files: ['worker/*'], mayImport: ['base', 'pure parts'] },
  // Adapters know their own contract and the lowest layer, never each other, never the executor.
  { name: 'lock adapters', files: ['lock/*'], mayImport: ['base', 'contracts'] },
  { name: 'store adapters', files: ['store/*'], mayImport: ['base', 'contracts'] },
];

/** Folders that no other folder may import from, whatever its layer. */
const IMPORTED_BY_NOBODY = ['testing', 'console'];

/** What is not a file of ours: every package, where it may be imported, and by how many files at most. */
const PACKAGES = [
  { name: 'p-retry', files: ['executor/retry.ts'], atMost: 1 },
  { name: 'lru-cache', files: ['cache/*'], atMost: 1 },
  { name: 'luxon', files: ['schedule/local-time.ts'], atMost: 1 },
  { name: 'croner', files: ['schedule/cron.ts'], atMost: 1 },
  // The core runs unchanged on Node, Deno, Bun and workerd.
  {
    name: 'node:',
    files: [
      'lock/file.ts',
      'store/file.ts',
      'files/*',
      'worker/*',
      'observe/diagnostics.ts',
      'console/node.ts',
    ],
  },
];

// ---- the check --------------------------------------------------------------------------------------------------

const src = resolve(process.argv[2] ?? join(root, 'src'));

const matches = (file, patterns) =>
  patterns.some((pattern) =>
    pattern.endsWith('/*') ? file.startsWith(pattern.slice(0, -1)) : file === pattern,
  );
const folderOf = (file) => file.split('/')[0];
const homeOf = (file) => [...LAYERS, ...OUTSIDE].find(({ files }) => matches(file, files));

/** Every file with its imports; those of our own files by their path in src. */
const files = new Map(
  readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => {
      const file = shown(path, src);
      const imports = importsOf(readFileSync(path, 'utf8')).map((found) => ({
        ...found,
        target: found.specifier.startsWith('.')
          ? posix.join(posix.dirname(file), found.specifier)
          : undefined,
      }));
      return [file, imports];
    }),
);

const violations = [];
const report = (file, line, imported, rule) =>
  violations.push(`src/${file}:${line} imports ${imported}: ${rule}`);

function checkOwn(file, { line, target }) {
  if (!files.has(target)) return report(file, line, target, 'there is no such file in src');
  const from = homeOf(file);
  const to = homeOf(target);
  if (from === undefined || to === undefined) return; // reported once, as a file without a layer
  if (IMPORTED_BY_NOBODY.includes(folderOf(target)) && folderOf(target) !== folderOf(file)) {
    return report(file, line, target, `nothing imports ${folderOf(target)}`);
  }
  if (from === to) return;
  if (from.mayImport !== undefined) {
    const rule = `${from.name} may import only ${from.mayImport.join(', ')}`;
    return from.mayImport.includes(to.name) ? undefined : report(file, line, target, rule);
  }
  if (LAYERS.indexOf(to) > LAYERS.indexOf(from)) {
    report(file, line, target, `${from.name} may not know ${to.name}, which is above it`);
  }
}

const importersOf = new Map();

function checkPackage(file, { line, specifier }) {
  const rule = PACKAGES.find(({ name }) =>
    name.endsWith(':') ? specifier.startsWith(name) : specifier === name || specifier.startsWith(`${name}/`),
  );
  if (rule === undefined) {
    return report(
      file,
      line,
      specifier,
      `only ${PACKAGES.map(({ name }) => name).join(', ')} may be imported`,
    );
  }
  if (!matches(file, rule.files)) return report(file, line, specifier, `only in ${rule.files.join(', ')}`);
  const importers = importersOf.get(rule) ?? new Set();
  importersOf.set(rule, importers.add(file));
  if (importers.size > (rule.atMost ?? Number.POSITIVE_INFINITY)) {
    report(file, line, specifier, `in ${rule.atMost} file only, and ${[...importers][0]} has it`);
  }
}

/** Depth first; an import of a file that is on the path to it closes a cycle. */
function checkCycles() {
  const done = new Set();
  const path = [];
  const visit = (file) => {
    if (done.has(file)) return;
    path.push(file);
    for (const { target, line, isTypeOnly } of files.get(file) ?? []) {
      if (isTypeOnly || target === undefined) continue;
      const begin = path.indexOf(target);
      if (begin < 0) visit(target);
      else report(file, line, target, `a cycle, ${[...path.slice(begin), target].join(' → ')}`);
    }
    path.pop();
    done.add(file);
  };
  for (const file of files.keys()) visit(file);
}

for (const [file, imports] of files) {
  if (homeOf(file) === undefined) {
    violations.push(`src/${file}:1 belongs to no layer: add it to the table in scripts/check-arrows.mjs`);
  }
  for (const found of imports) {
    if (found.target === undefined) checkPackage(file, found);
    else checkOwn(file, found);
  }
}
checkCycles();
if (files.size === 0) violations.push(`${src}: no TypeScript files to check`);

for (const violation of violations) console.log(violation);
const importCount = [...files.values()].flat().length;
console.log(`${files.size} files, ${importCount} imports checked; ${violations.length} against the arrows.`);
process.exitCode = violations.length === 0 ? 0 : 1;
