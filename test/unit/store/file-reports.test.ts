import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { fileStore } from '../../../src/store/file.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const send = (directory: string, instance: string, keepFor = 60_000) =>
  fileStore({ directory, timeout: 10_000 }).versions([], { instance, text: `of ${instance}`, keepFor });

const texts = async (directory: string): Promise<string[]> =>
  (await fileStore({ directory, timeout: 10_000 }).reports()).map(({ text }) => text).sort();

it('fileStore: a damaged or foreign file is no report; the next one replaces it', async () => {
  const directory = temporaryDirectory();
  for (const instance of ['a', 'b', 'c']) await send(directory, instance);
  const path = (instance: string) => join(directory, `report-%2f${instance}`, '1.report');
  const before = readFileSync(path('b'), 'utf8');
  writeFileSync(path('b'), before.slice(0, -1));
  writeFileSync(path('c'), 'not ours');
  mkdirSync(dirname(path('copy')));
  writeFileSync(path('copy'), before); // not where its instance has it
  expect(await texts(directory)).toEqual(['of a']);
  for (const instance of ['b', 'c']) await send(directory, instance);
  expect(await texts(directory)).toEqual(['of a', 'of b', 'of c']);
});

it('fileStore: reports that have expired are deleted behind later ones, and nothing foreign is', async () => {
  const directory = temporaryDirectory();
  for (const instance of ['brief', 'kept', 'foreign']) await send(directory, instance);
  const brief = join(directory, 'report-%2fbrief', '1.report');
  const earlier = (_: string, name: string, at: string) => `"${name}":${Number(at) - 180_000}`;
  writeFileSync(brief, readFileSync(brief, 'utf8').replace(/"(at|wall)":([\d.]+)/g, earlier));
  expect(await texts(directory)).toEqual(['of foreign', 'of kept']);
  const foreign = join(directory, 'report-%2fforeign', '1.report');
  writeFileSync(foreign, 'not ours');
  const store = fileStore({ directory });
  await vi.waitFor(async () => {
    await store.versions([], { instance: 'later', text: '[]', keepFor: 60_000 });
    const left = readdirSync(directory).sort();
    expect(left).toEqual(['report-%2fforeign', 'report-%2fkept', 'report-%2flater']);
  });
  expect(existsSync(foreign)).toBe(true);
});

it('fileStore: lists a thousand of more reports', async () => {
  const directory = temporaryDirectory();
  await send(directory, 'a');
  const content = readFileSync(join(directory, 'report-%2fa', '1.report'), 'utf8');
  for (let i = 0; i < 1000; i += 1) {
    mkdirSync(join(directory, `report-%2f${i}`));
    writeFileSync(join(directory, `report-%2f${i}`, '1.report'), content.replace('"/a"', `"/${i}"`));
  }
  expect(await texts(directory)).toHaveLength(1000);
});
