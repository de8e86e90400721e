// What Stryker is to do for the part that MUTATION_PART names; started by scripts/mutation.mjs from the root.

import { fileURLToPath } from 'node:url';
import { parts } from './parts.mjs';

const part = process.env.MUTATION_PART ?? 'schedule';
const results = `.tmp/mutation/${part}`;

export default {
  packageManager: 'npm',
  plugins: [fileURLToPath(import.meta.resolve('@stryker-mutator/vitest-runner'))],
  testRunner: 'vitest',
  vitest: { configFile: 'test/system/mutation/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  ignoreStatic: parts[part].ignoresStatic ?? false,
  // scripts/mutation.mjs judges.
  thresholds: { high: 98, low: 95, break: null },
  // The rest of the repository is not copied.
  ignorePatterns: [
    '**',
    '!src/**',
    '!test/**',
    '!scripts/**',
    '!vitest*.config.ts',
    '!docs/ARCHITECTURE.md',
    '!package.json',
    '!tsconfig*.json',
    '**/node_modules/**',
  ],
  // There is nothing to rewrite in ours, and TypeScript 7 has no API for it.
  tsconfigFile: 'no-tsconfig.json',
  disableTypeChecks: false,
  tempDirName: `.tmp/mutation/sandbox-${part}`,
  incremental: true,
  incrementalFile: `${results}.json`,
  reporters: ['clear-text', 'html', 'json', 'progress-append-only'],
  jsonReporter: { fileName: `${results}.report.json` },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  htmlReporter: { fileName: `${results}.html` },
  dryRunTimeoutMinutes: 15,
  // A mutant that loops for ever costs that, and another process; one that waits for ever ends by the timeout of its test.
  timeoutMS: 5_000,
  timeoutFactor: 3,
  allowEmpty: true,
  allowConsoleColors: false,
};
