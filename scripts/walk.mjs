// Shows how far a read walks through the code of the library, and how many types its folders declare.
//
//   node scripts/walk.mjs                  the tables
//   node scripts/walk.mjs --json           the same, with the calls of each file, for programs
//   node scripts/walk.mjs --trace due      each call of one scenario, in order, as file:function
//   node scripts/walk.mjs --check          fails where docs/ARCHITECTURE.md says something else
//   node scripts/walk.mjs --markdown docs/ARCHITECTURE.md    puts the reads there, between their marks
//
// Each file of src is compiled by itself, with a call at the start of each function body, and run in this process.
//
// A call is the entry of a function, method, getter, setter or constructor with a block body in src, arrow functions
// and callbacks included. Not counted: arrow functions whose body is an expression (a column of their own shows the
// calls with them), field initialisers, packages, the load itself, and the files of `tickless/testing`, whose clock
// drives the scenarios. Files are those with at least one call; a switch is two successive calls in different files.
// A scenario begins with the call of `get` and ends when the load that it starts has landed and nothing runs any more:
// with a lock and a store, when the snapshot is published and the lease is released. Before that each member has loaded
// several times, so that lazily made parts are there.
//
// A type is a declared class, interface or type alias, exported or not. Cycles of imports are the business of
// arrows.config.mjs.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { scriptArguments } from './support/arguments.mjs';
import { instrument } from './support/instrument.mjs';
import { putBetweenMarks } from './support/marks.mjs';
import { root, shown } from './support/project.mjs';
import { printTable } from './support/table.mjs';

const { values: options } = scriptArguments({
  json: { type: 'boolean' },
  trace: { type: 'string' },
  check: { type: 'boolean' },
  markdown: { type: 'string' },
});
const src = join(root, 'src');
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

// ---- the instrumented build -------------------------------------------------------------------------------------

mkdirSync(join(root, '.tmp'), { recursive: true });
const folder = mkdtempSync(join(root, '.tmp/walk-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const functions = [];
const sources = new Map();
for (const path of readdirSync(src, { recursive: true })
  .filter((name) => name.endsWith('.ts'))
  .sort()) {
  const file = shown(join(src, path), src);
  const callFor = (found) => `$enter(${functions.push({ ...found, file }) - 1})`;
  const source = instrument(file, readFileSync(join(src, file), 'utf8'), callFor);
  sources.set(file, source);
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, `${file}.mjs`), source.code);
}

/** The source of an entry of the package. */
function entryOf(subpath) {
  const built = exports[subpath].default.replace(/^\.\/dist\/(.*)\.js$/, '$1.ts');
  const entry = [built, `${subpath}.ts`, `${subpath}/index.ts`].find((path) => existsSync(join(src, path)));
  if (entry === undefined) throw new Error(`src has no file for the entry ${subpath}`);
  return posix.normalize(entry);
}

/** The calls since the scenario began. */
let calls = [];
globalThis.$enter = (id) => calls.push(functions[id]);
const load = (subpath) => import(pathToFileURL(join(folder, `${entryOf(subpath)}.mjs`)).href);
const { RefreshingValue, RefreshingCache } = await load('.');
const { memoryBackend } = await load('./memory');
const { FakeClock } = await load('./testing');
const testing = dirname(entryOf('./testing'));

// ---- the scenarios ----------------------------------------------------------------------------------------------

const value = (options) => {
  const member = new RefreshingValue(options);
  return () => member.get();
};
const keyed = (options) => {
  const member = new RefreshingCache({ ...options, max: 100, random: () => 1 - 2 ** -53 });
  return () => member.get('key');
};
const shared = (clock) => ({ backend: memoryBackend({ clock }) });
const none = () => ({});
const SCENARIOS = {
  fresh: { what: 'fresh read', make: value, coordination: none, isDue: false },
  due: { what: 'due read', make: value, coordination: none, isDue: true },
  locked: { what: 'due read, with a backend', make: value, coordination: shared, isDue: true },
  reported: {
    what: 'the same, with the report that is left once a minute',
    make: value,
    coordination: shared,
    isDue: true,
    seconds: 600,
  },
  keyed: { what: 'due keyed read', make: keyed, coordination: none, isDue: true },
  'keyed-locked': { what: 'due keyed read, with a backend', make: keyed, coordination: shared, isDue: true },
};

/** Waits until no more calls are made. */
async function settled() {
  for (let quietTurns = 0, before = -1; quietTurns < 5; before = calls.length) {
    await new Promise((resolve) => setImmediate(resolve));
    quietTurns = calls.length === before ? quietTurns + 1 : 0;
  }
}

async function walk({ what, make, coordination, isDue, seconds = 5 }) {
  // The machine's clock is part of a fresh read.
  const clock = isDue ? new FakeClock() : undefined;
  let loads = 0;
  const schedule = { seconds };
  const read = make({ name: 'walk', load: async () => ++loads, schedule, clock, ...coordination(clock) });
  for (let round = 0; round < 4; round++) {
    await read();
    await clock?.advance({ seconds: 2 * seconds + 1 });
    await settled();
  }
  const loadsBefore = loads;
  calls = [];
  read();
  await settled();
  const walked = calls.filter(({ file }) => !file.startsWith(`${testing}/`));
  const loadCount = loads - loadsBefore;
  const timerCount = clock?.timerCount ?? 0;
  if (loadCount !== (isDue ? 1 : 0) || timerCount > 0) {
    throw new Error(`${what}: ${loadCount} loads, ${timerCount} timers left`);
  }
  return walked;
}

function figuresOf(walked) {
  const counted = walked.filter(({ isShort }) => !isShort).map(({ file }) => file);
  const switches = counted.filter((file, index) => index > 0 && counted[index - 1] !== file).length;
  const perFile = {};
  for (const file of counted) perFile[file] = (perFile[file] ?? 0) + 1;
  const byCalls = Object.entries(perFile).sort(([, a], [, b]) => b - a);
  return {
    calls: counted.length,
    files: byCalls.length,
    switches,
    callsWithShortArrows: walked.length,
    perFile: Object.fromEntries(byCalls),
  };
}

// ---- the structure ----------------------------------------------------------------------------------------------

function typesPerFolder() {
  const folders = {};
  for (const [file, { types, classes }] of sources) {
    const name = file.includes('/') ? file.split('/')[0] : '(top)';
    folders[name] ??= { types: 0, classes: 0 };
    const counts = folders[name];
    counts.types += types.length;
    counts.classes += classes.length;
  }
  return folders;
}

// ---- the output -------------------------------------------------------------------------------------------------

async function printTrace(name) {
  const names = Object.keys(SCENARIOS);
  if (!names.includes(name)) throw new Error(`--trace ${name}: expected one of ${names.join(', ')}`);
  for (const { file, name: called, isShort } of await walk(SCENARIOS[name])) {
    console.log(`${file}:${called || '(anonymous)'}${isShort ? ' (short arrow)' : ''}`);
  }
}

function markdownOf(reads) {
  const rows = Object.entries(reads).map(
    ([name, { calls, files, switches }]) => `| ${SCENARIOS[name].what} | ${calls} | ${files} | ${switches} |`,
  );
  const head = ['| read | calls | files | switches between files |', '| --- | --- | --- | --- |'];
  return [...head, ...rows].join('\n');
}

async function printAll() {
  const reads = {};
  for (const [name, scenario] of Object.entries(SCENARIOS)) reads[name] = figuresOf(await walk(scenario));
  const types = typesPerFolder();
  if (options.json) {
    console.log(JSON.stringify({ reads, types }, undefined, 2));
    return;
  }
  const markdown = markdownOf(reads);
  if (options.markdown !== undefined) await putBetweenMarks(options.markdown, 'walk', markdown);
  if (options.check) {
    if (readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8').includes(markdown)) return;
    console.error(`docs/ARCHITECTURE.md has other figures (--markdown puts these there):\n${markdown}`);
    process.exitCode = 1;
    return;
  }
  const rows = Object.entries(reads).map(([name, { calls, files, switches, callsWithShortArrows }]) => {
    return [`${SCENARIOS[name].what} (${name})`, calls, files, switches, callsWithShortArrows];
  });
  printTable(['scenario', 'calls', 'files', 'switches', 'calls with short arrows'], rows);
  const counts = Object.entries(types).map(([name, each]) => [name, each.types, each.classes]);
  printTable(['folder of src', 'types', 'of them classes'], counts);
}

await (options.trace === undefined ? printAll() : printTrace(options.trace));
