// Compares the names in the documents with those of the code, so that one thing has one name.
//
//   node scripts/check-names.mjs
//
// A name in a document (`maxStaleness`, `refresh()`, `tickless_loads_total`, `TOO_STALE`) is one of the code.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scriptArguments } from './support/arguments.mjs';
import { root } from './support/project.mjs';

scriptArguments();

const read = (path) => readFileSync(join(root, path), 'utf8');

/** Folders hold installed packages too. */
function listed(folder, end) {
  const entries = readdirSync(join(root, folder), { withFileTypes: true }).filter(
    ({ name }) => name !== 'node_modules',
  );
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return listed(path, end);
    return path.endsWith(end) ? [path] : [];
  });
}

/** Generated, of code that is there already. */
const GENERATED = ['src/worker/thread-code.ts', 'src/console/page-text.ts'];
/** Names of servers, standards and other libraries. */
const OF_OTHERS = new Set(
  `CronJob anySchedule createTestingModule emitDecoratorMetadata overrideProvider originalError flagKey targetingKey
  AsyncLocalStorageTransactionContextPropagator sem_ver starts_with ends_with max_lifetime max_prepared_statements
  query_wait_timeout synchronous_commit unstable_cache nodeClientOptions script_name nextUpdate npm_ _total`.split(
    /\s+/,
  ),
);
/** Of other libraries, and of earlier trees. */
const FOREIGN = ['docs/migrating.md', 'docs/comparison.md', 'docs/decisions.md', 'docs/benchmarks.md'];

const sources = [...listed('src', '.ts'), ...listed('src', '.tsx')].filter(
  (path) => !GENERATED.includes(path),
);
const documents = ['README.md', ...listed('docs', '.md')].filter((path) => !FOREIGN.includes(path));
const others = ['examples', 'scripts', 'bench', 'test/support'].flatMap((folder) => [
  ...listed(folder, '.ts'),
  ...listed(folder, '.mjs'),
]);
const wordsOf = (text) => new Set(text.match(/[A-Za-z_$][\w$]*(?:-[a-z]+)*/g));

const code = new Set([...sources, ...others, 'package.json'].flatMap((path) => [...wordsOf(read(path))]));

/** The names in a line of Markdown that look like code: not plain words, which are words of the language too, and not HTTP headers. */
function namesIn(line) {
  const marked = [...line.matchAll(/`([\w$.-]+)(?:\([^`]*\))?`/g)].flatMap(([, text]) => text.split('.'));
  return marked.filter(
    (name) => /[a-z][A-Z]|^[A-Z][a-z]|_/.test(name) && !/^[A-Z][\w]*(?:-[A-Z]\w*)+$/.test(name),
  );
}

const unknown = documents.flatMap((path) =>
  read(path)
    .split('\n')
    .flatMap((line, index) => namesIn(line).map((name) => ({ name, at: `${path}:${index + 1}` })))
    .filter(({ name }) => !code.has(name) && !OF_OTHERS.has(name)),
);
for (const { name, at } of unknown) console.error(`${at}: the code has no \`${name}\``);

if (unknown.length > 0) process.exit(1);
