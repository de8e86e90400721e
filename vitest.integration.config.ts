import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

// The tests with real servers. Run them with `npm run test:integration`, which installs what they need, or, when that
// has been done, some of them with `npx vitest run -c vitest.integration.config.ts proxy`.
export default mergeConfig(
  { ...base, test: { ...base.test, include: [], exclude: [] } },
  defineConfig({
    test: {
      include: ['test/system/integration/**/*.test.ts'],
      exclude: ['**/node_modules/**'],
      globalSetup: ['test/system/integration/support/global-setup.ts'],
      testTimeout: 60_000,
      hookTimeout: 120_000,
      maxConcurrency: 16,
    },
  }),
);
