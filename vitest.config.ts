import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^tickless\/testing$/, replacement: source('src/testing/index.ts') },
      { find: /^tickless\/(lock|store)\/(.*)$/, replacement: source('src/$1/$2.ts') },
      { find: /^tickless\/(lock|store)$/, replacement: source('src/$1/index.ts') },
      { find: /^tickless\/worker$/, replacement: source('src/worker/index.ts') },
      { find: /^tickless$/, replacement: source('src/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/system/integration/**'],
    globalSetup: [source('scripts/thread-code.mjs')],
    testTimeout: 20_000,
    coverage: { include: ['src/**/*.ts'], reporter: ['text', 'html'] },
  },
});
