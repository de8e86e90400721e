import { build } from 'esbuild';
import { expect, it } from 'vitest';

/** The packages that an entry imports, itself or by other files. */
async function packagesOf(entry: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'neutral',
    metafile: true,
    write: false,
  });
  const [{ imports } = { imports: [] }] = Object.values(metafile.outputs);
  return imports.map(({ path }) => path);
}

it('luxon and croner come with the calendar, and not with the core', async () => {
  expect(await packagesOf('src/calendar/index.ts')).toEqual(expect.arrayContaining(['luxon', 'croner']));
  const ofCore = await packagesOf('src/index.ts');
  expect(ofCore).toContain('p-retry');
  expect(ofCore.filter((path) => ['luxon', 'croner'].includes(path))).toEqual([]);
});
