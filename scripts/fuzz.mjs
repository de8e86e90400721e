// npm run fuzz: the fuzz tests (test/property/fuzz) for longer than in `npm test`.
//
//   npm run fuzz                            twenty times as long
//   npm run fuzz -- --runs 1000000          so many runs for a property of the usual price, which has 1000 in `npm test`
//   npm run fuzz -- --seed 42               with that seed, which a failure tells
//   npm run fuzz -- cron                    the files whose path holds that
//
// A failure shows the shortest input that fast-check has found for it.

import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { root, tool } from './support/project.mjs';

/** Beside it no property is stopped for being slow. */
const TIMEOUT_MS = 24 * 3_600_000;

const { values, positionals } = parseArgs({
  options: { runs: { type: 'string', default: '20000' }, seed: { type: 'string' } },
  allowPositionals: true,
});
for (const [name, text] of Object.entries(values)) {
  if (/^-?\d+$/.test(text)) continue;
  console.error(`--${name} must be a whole number, received ${JSON.stringify(text)}`);
  process.exit(2);
}

const env = { ...process.env, TICKLESS_FUZZ_RUNS: values.runs };
if (values.seed !== undefined) env.TICKLESS_FUZZ_SEED = values.seed;
const files = positionals.length === 0 ? [''] : positionals;
const filters = files.map((file) => `test/property/fuzz/${file}`);
const [file, ...args] = tool('vitest', ['run', `--testTimeout=${TIMEOUT_MS}`, ...filters]);
const { status } = spawnSync(file, args, { cwd: root, env, stdio: 'inherit' });
process.exitCode = status ?? 1;
