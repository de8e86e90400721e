import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { defineConfig, mergeConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import base from '../../../vitest.config.ts';
import { leftOutFiles, parts } from './parts.mjs';

// What Stryker runs against each mutant of the part that MUTATION_PART names: the same tests as ever, without those
// that measure times or start processes, and with few runs of each property.

const path = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const part = parts[process.env.MUTATION_PART ?? 'schedule']!;

/** Those that most likely see a mutant go first: the run of a mutant ends with the first failure. */
class NearestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = (file: TestSpecification): number => {
      const name = relative(this.ctx.config.root, file.moduleId);
      const index = part.tests.findIndex((prefix) => name.startsWith(prefix));
      return index === -1 ? part.tests.length : index;
    };
    return files.toSorted((a, b) => rank(a) - rank(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}

/** Stryker asks for threads, which start sooner. In one a test that sets TZ sees nothing of it, and may not set the umask. */
const inProcesses: Plugin = {
  name: 'processes instead of threads',
  configureVitest({ vitest, project }) {
    vitest.config.pool = 'forks';
    project.config.pool = 'forks';
  },
};

export default mergeConfig(
  { ...base, test: { ...base.test, include: [], exclude: [], projects: undefined } },
  defineConfig({
    plugins: part.setsProcess ? [inProcesses] : [],
    resolve: { alias: [{ find: /^fast-check$/, replacement: path('few-runs.ts') }] },
    test: {
      include: part.tests.map((prefix) => (prefix.endsWith('/') ? `${prefix}**/*.test.ts` : prefix)),
      exclude: ['**/node_modules/**', ...leftOutFiles],
      setupFiles: [path('setup.ts')],
      runner: path('runner.ts'),
      isolate: false,
      sequence: { sequencer: NearestFirst },
      testTimeout: 5_000,
      ...(part.servers
        ? { globalSetup: ['test/system/integration/support/global-setup.ts'], hookTimeout: 60_000 }
        : {}),
    },
  }),
);
