import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it, vi } from 'vitest';
import { fileBackend } from '../../../src/backends/file.ts';
import { storeOf } from '../../support/parts.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { edit, folderOf, older, pathOf } from '../files/record-files.ts';

const send = (directory: string, instance: string, keepFor = 60_000) =>
  storeOf(fileBackend({ directory, timeout: 10_000 })).versions([], {
    instance,
    text: `of ${instance}`,
    keepFor,
  });

const texts = async (directory: string): Promise<string[]> =>
  (await storeOf(fileBackend({ directory, timeout: 10_000 })).reports()).map(({ text }) => text).sort();

it('the store of fileBackend: a damaged or foreign file is no report; the next one replaces it', async () => {
  const directory = temporaryDirectory();
  for (const instance of ['a', 'b', 'c']) await send(directory, instance);
  const path = (instance: string, number?: number) => pathOf(directory, `report//${instance}`, number);
  const before = readFileSync(path('b'), 'utf8');
  writeFileSync(path('b'), before.slice(0, -1));
  writeFileSync(path('c'), 'not ours');
  mkdirSync(dirname(path('copy', 1)));
  writeFileSync(path('copy', 1), before); // not where its instance has it
  expect(await texts(directory)).toEqual(['of a']);
  for (const instance of ['b', 'c']) await send(directory, instance);
  expect(await texts(directory)).toEqual(['of a', 'of b', 'of c']);
});

it('the store of fileBackend: reports that have expired are deleted behind later ones, and nothing foreign is', async () => {
  const directory = temporaryDirectory();
  for (const instance of ['brief', 'kept', 'foreign']) await send(directory, instance);
  edit(directory, 'report//brief', older(180_000));
  expect(await texts(directory)).toEqual(['of foreign', 'of kept']);
  const foreign = pathOf(directory, 'report//foreign');
  writeFileSync(foreign, 'not ours');
  const store = storeOf(fileBackend({ directory }));
  await vi.waitFor(async () => {
    await store.versions([], { instance: 'later', text: '[]', keepFor: 60_000 });
    const left = readdirSync(directory).sort();
    expect(left).toEqual(['foreign', 'kept', 'later'].map((name) => `record-report%2f%2f${name}`));
  });
  expect(existsSync(foreign)).toBe(true);
});

it('the store of fileBackend: lists a thousand of more reports', async () => {
  const directory = temporaryDirectory();
  await send(directory, 'a');
  const content = readFileSync(pathOf(directory, 'report//a'), 'utf8');
  for (let i = 0; i < 1000; i += 1) {
    mkdirSync(folderOf(directory, `report//${i}`));
    writeFileSync(pathOf(directory, `report//${i}`, 1), content.replace('"report//a"', `"report//${i}"`));
  }
  expect(await texts(directory)).toHaveLength(1000);
});

it('the store of fileBackend: the longest report is listed, and the one before it is deleted', async () => {
  const directory = temporaryDirectory();
  const text = 'x'.repeat(65_536);
  const store = storeOf(fileBackend({ directory, timeout: 10_000 }));
  for (const end of ['1', '2']) {
    await store.versions([], { instance: 'a', text: text.slice(1) + end, keepFor: 60_000 });
  }
  expect((await texts(directory)).map((one) => one.slice(-2))).toEqual(['x2']);
  const files = readdirSync(folderOf(directory, 'report//a'));
  expect(files.filter((file) => file.endsWith('.text'))).toHaveLength(1);
});
