import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const module = new URL('../../../scripts/support/thread-code.mjs', import.meta.url).href;
const { threadCodeModule } = (await import(module)) as { readonly threadCodeModule: () => Promise<string> };

it('what runs in threads is what src/worker/thread says: else run scripts/thread-code.mjs', async () => {
  const file = new URL('../../../src/worker/thread-code.ts', import.meta.url);
  expect(readFileSync(file, 'utf8')).toBe(await threadCodeModule());
});
