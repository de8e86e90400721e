import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

test('CONTRIBUTING names each dependency', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { readonly dependencies: object };
  const section = /^## Dependencies$([\s\S]*?)^## /m.exec(read('CONTRIBUTING.md'))?.[1];
  for (const name of Object.keys(dependencies)) expect(section).toContain(name);
});

test('the cluster test that CONTRIBUTING shows is the one that runs', () => {
  const shown = /^```ts ignore\n([\s\S]*?)^```$/m.exec(read('CONTRIBUTING.md'))?.[1];
  expect(shown).toBe(read('test/unit/cluster/ten-lines.test.ts'));
});
