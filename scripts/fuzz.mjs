// npm run fuzz: the fuzz tests (test/property/fuzz) with more runs than in `npm test`, which has at most 50 of each property.
//
//   npm run fuzz                            20,000 runs of a property of ordinary cost, fewer of expensive ones
//   npm run fuzz -- --runs 1000000          that number of runs
//   npm run fuzz -- --seed 42               with the seed that a failure has printed
//   npm run fuzz -- cron                    only the files whose path contains that
//
// A failure shows the shortest input that fast-check has found for it.

import { spawnSync } from 'node:child_process';
import { checkFilters, orEnd, scriptArguments } from './support/arguments.mjs';
import { root, tool } from './support/project.mjs';

/** Long enough for any number of runs. */
const TIMEOUT_MS = 24 * 3_600_000;

const { values, positionals } = scriptArguments(
  {
    runs: { type: 'string', number: 'a whole number over 0', default: '20000' },
    seed: { type: 'string', number: 'a whole number' },
  },
  { name: 'test file' },
);
orEnd(() => checkFilters('test/property/fuzz', positionals));

const env = { ...process.env, TICKLESS_FUZZ_RUNS: values.runs };
if (values.seed !== undefined) env.TICKLESS_FUZZ_SEED = values.seed;
const files = positionals.length === 0 ? [''] : positionals;
const filters = files.map((file) => `test/property/fuzz/${file}`);
const [file, ...args] = tool('vitest', ['run', `--testTimeout=${TIMEOUT_MS}`, ...filters]);
const { status } = spawnSync(file, args, { cwd: root, env, stdio: 'inherit' });
process.exitCode = status ?? 1;
