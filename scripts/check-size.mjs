// Bundles what users import, as they would for a browser or an edge runtime: minified, gzipped, with all dependencies.
// Fails when an import outgrows its budget, or brings a dependency that it has no need of. Needs `npm run build` first.
//
//   node scripts/check-size.mjs            holds each import to its budget
//   node scripts/check-size.mjs --parts    shows what the first is made of

import { gzipSync } from 'node:zlib';
import Table from 'cli-table3';
import { build } from 'esbuild';
import { root } from './support/project.mjs';

const ENGINE = ['is-network-error', 'p-retry'];

/** `kB`: thousands of bytes. A budget leaves some hundred bytes of room. */
const BUDGETS = [
  { what: '{ RefreshingValue, fixedDelay }', kB: 23.2, needs: ENGINE },
  { what: '{ PeriodicExecutor }', kB: 22.5, needs: ENGINE },
  { what: '{ RefreshingCache }', kB: 36.5, needs: [...ENGINE, 'lru-cache'] },
  { what: '{ RefreshGroup }', kB: 38.5, needs: [...ENGINE, 'lru-cache'] },
  { what: '{ fixedDelay }', kB: 1, needs: [] },
  { what: '{ fixedRate, earliest, withJitter, probabilisticEarly, never }', kB: 2, needs: [] },
  { what: '{ httpFreshness }', kB: 2.7, needs: [] },
  { what: '{ dailyAt }', kB: 24, needs: ['luxon'] },
  { what: '{ cron }', kB: 34, needs: ['croner', 'luxon'] },
  { what: '{ lockedTask }', kB: 3.8, needs: [] },
  { what: '*', kB: 75, needs: [...ENGINE, 'croner', 'lru-cache', 'luxon'] },
  { what: '*', from: 'lock/memory', kB: 4, needs: [] },
  { what: '*', from: 'lock/redis', kB: 6.5, needs: [] },
  { what: '*', from: 'store/redis', kB: 5, needs: [] },
  { what: '*', from: 'lock/postgres', kB: 7, needs: [] },
  { what: '*', from: 'store/postgres', kB: 5.5, needs: [] },
  { what: '*', from: 'worker', kB: 10, needs: [] },
];

async function bundle({ what, from = '.' }) {
  const specifier = `./dist/${from === '.' ? '' : `${from}/`}`;
  const path = ['.', 'worker'].includes(from) ? `${specifier}index.js` : `./dist/${from}.js`;
  const result = await build({
    stdin: { contents: `export ${what} from '${path}'`, resolveDir: root },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    external: ['node:*'],
    write: false,
    metafile: true,
  });
  const [{ contents }] = result.outputFiles;
  const [{ inputs }] = Object.values(result.metafile.outputs);
  const parts = Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
    bytesInOutput > 0 ? [{ path, bytes: bytesInOutput }] : [],
  );
  return { bytes: gzipSync(contents, { level: 9 }).length, parts };
}

/** The packages of which something is in it. */
function packagesOf(parts) {
  const names = parts.flatMap(({ path }) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return [...new Set(names)].toSorted();
}

function print(head, rows) {
  const table = new Table({ head, style: { head: [], border: [] }, colAligns: ['left', 'right', 'right'] });
  table.push(...rows);
  console.log(table.toString());
}

if (process.argv.includes('--parts')) {
  const { bytes, parts } = await bundle(BUDGETS[0]);
  const sorted = parts.toSorted((a, b) => b.bytes - a.bytes);
  print(
    [`${BUDGETS[0].what}: ${bytes} bytes gzipped`, 'bytes minified'],
    sorted.map(({ path, bytes: of }) => [path, of]),
  );
  process.exit();
}

const problems = [];
const rows = [];
for (const budget of BUDGETS) {
  const { what, from = '', kB, needs } = budget;
  const { bytes, parts } = await bundle(budget);
  const packages = packagesOf(parts);
  const name = `${what} from tickless${from && `/${from}`}`;
  rows.push([name, (bytes / 1000).toFixed(2), kB.toFixed(1), packages.join(', ')]);
  if (bytes > kB * 1000) problems.push(`${name}: ${bytes} bytes, ${kB * 1000} are its budget`);
  const uncalled = packages.filter((each) => !needs.includes(each));
  if (uncalled.length > 0) problems.push(`${name}: brings ${uncalled.join(', ')}`);
}
print(['import', 'kB gzipped', 'budget', 'brings'], rows);
for (const problem of problems) console.log(problem);
if (problems.length === 0) console.log(`${rows.length} imports within their budgets`);
process.exitCode = problems.length === 0 ? 0 : 1;
