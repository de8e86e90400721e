import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** They replace globals or modules, or count what the process does: each in a process of its own. */
const ISOLATED = [
  'test/unit/files/unreadable-files.test.ts',
  'test/unit/time/{clock,coarse-clock}.test.ts',
  'test/unit/worker/**/*.test.ts',
];
/** They start processes, wait by the clock, or do a hundred times what others do once: for `npm run test:all`. */
const SLOW = [
  'test/unit/cache/batch-of-many-keys.test.ts',
  'test/unit/cli/{actions,hostile-answers}.test.ts',
  'test/unit/cluster/exit.test.ts',
  'test/unit/files/windows.test.ts',
  'test/unit/group/group-costs.test.ts',
  'test/unit/lock/file-crashes.test.ts',
  'test/unit/scripts/{stray-arguments,walk}.test.ts',
  'test/unit/testing/conformance.test.ts',
  'test/unit/time/body-deadline.test.ts',
  'test/unit/worker/{ends,exit,failures}.test.ts',
];
/** A thread, so not where the threads of a process are counted, nor where a property tries thousands of cases in one go. */
const HANG_WATCH = ['test/support/hang-watch/setup.ts'];
const PROPERTIES = ['test/property/**/*.test.ts', 'test/unit/**/*.property.test.ts'];

/**
 * `npm test` runs unit, isolated, property and examples, each property a few times; `npm run test:all` all of them, in full.
 */
export default defineConfig({
  resolve: {
    alias: [
      { find: /^fast-check$/, replacement: source('test/support/fast-check.ts') },
      { find: /^tickless\/testing$/, replacement: source('src/testing/index.ts') },
      {
        find: /^tickless\/(memory|file|redis|postgres|mysql|sqlite|mongodb|etcd|dynamodb|durable-object)$/,
        replacement: source('src/backends/$1.ts'),
      },
      { find: /^tickless\/backend$/, replacement: source('src/backends/index.ts') },
      {
        find: /^tickless\/(guards|decorators|fastify|openfeature|worker|diagnostics|prometheus|otel|console|sources)$/,
        replacement: source('src/$1/index.ts'),
      },
      { find: /^tickless\/console\/node$/, replacement: source('src/console/node.ts') },
      { find: /^tickless$/, replacement: source('src/index.ts') },
    ],
  },
  test: {
    globalSetup: [source('scripts/thread-code.mjs'), source('scripts/console-page.mjs')],
    // Far beyond what a test takes on a busy machine.
    testTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    coverage: { include: ['src/**/*.ts'], reporter: ['text', 'html'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/{unit,contract}/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...ISOLATED, ...SLOW, ...PROPERTIES],
          setupFiles: HANG_WATCH,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'isolated',
          include: ISOLATED,
          exclude: [...configDefaults.exclude, ...SLOW],
        },
      },
      {
        extends: true,
        test: { name: 'slow', include: SLOW },
      },
      {
        extends: true,
        test: {
          name: 'property',
          include: PROPERTIES,
          isolate: false,
        },
      },
      {
        extends: true,
        // Programs that import the built package: `npm run build` first.
        test: {
          name: 'examples',
          include: ['test/system/examples/**/*.test.ts'],
          testTimeout: 60_000,
          expect: { poll: { timeout: 20_000 } },
          maxConcurrency: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/system/**/*.test.ts'],
          exclude: [
            ...configDefaults.exclude,
            'test/system/{integration,examples,console,nestjs,openfeature}/**',
          ],
          testTimeout: 120_000,
        },
      },
      {
        extends: true,
        // A real Chromium or Firefox: `node scripts/console.mjs` installs what it needs.
        test: {
          name: 'console',
          include: ['test/system/console/**/*.test.ts'],
          testTimeout: 90_000,
        },
      },
      {
        extends: true,
        // Rules of flags: `node scripts/openfeature.mjs` installs the library that evaluates them.
        test: { name: 'openfeature', include: ['test/system/openfeature/**/*.test.ts'] },
      },
      {
        extends: true,
        // Real servers: `npm run test:all -- --only integration` installs what they need.
        test: {
          name: 'integration',
          include: ['test/system/integration/**/*.test.ts'],
          globalSetup: ['test/system/integration/support/global-setup.ts'],
          testTimeout: 60_000,
          expect: { poll: { timeout: 20_000 } },
          hookTimeout: 120_000,
          maxConcurrency: 16,
        },
      },
    ],
  },
});
