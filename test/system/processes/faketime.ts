import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TRIPLES: Readonly<Record<string, string>> = {
  x64: 'x86_64-linux-gnu',
  arm64: 'aarch64-linux-gnu',
  arm: 'arm-linux-gnueabihf',
  ppc64: 'powerpc64le-linux-gnu',
  s390x: 's390x-linux-gnu',
};

function findLibrary(): string | undefined {
  const triple = TRIPLES[process.arch] ?? process.arch;
  return [
    `/usr/lib/${triple}/faketime`,
    '/usr/lib/faketime',
    '/usr/lib64/faketime',
    '/usr/local/lib/faketime',
  ]
    .map((directory) => join(directory, 'libfaketime.so.1'))
    .find((path) => existsSync(path));
}

interface Debian {
  canInstallPackages(): boolean;
  installPackages(packages: readonly string[]): void;
}

/**
 * The path of libfaketime, which steps the wall clock of one process. If it is missing, it is installed on Debian (or a
 * derivative) as root.
 *
 * @throws if it is missing and cannot be installed, with advice.
 */
export async function libfaketime(): Promise<string> {
  const found = findLibrary();
  if (found !== undefined) return found;
  const advice = 'These tests need libfaketime: apt-get install faketime (or the like), then run them again.';
  const { href } = new URL('../../../scripts/support/debian.mjs', import.meta.url);
  const { canInstallPackages, installPackages } = (await import(href)) as Debian;
  if (!canInstallPackages()) throw new Error(advice);
  try {
    installPackages(['faketime']);
  } catch (error) {
    throw new Error(`${advice}\n${(error as Error).message}`, { cause: error });
  }
  const installed = findLibrary();
  if (installed === undefined)
    throw new Error(`${advice}\nThe package is installed, the library is not found.`);
  return installed;
}

/**
 * Runs an action with the environment of a process whose wall clock has the offset in the file `FAKETIME_TIMESTAMP_FILE`
 * ("+0", "-3600"), read again at each reading of the clock. The monotonic clock is not faked: with a faked one Node aborts on
 * a step backwards.
 */
export async function withFakeTime<R>(
  run: (env: Readonly<Record<string, string>>) => Promise<R>,
): Promise<R> {
  const library = await libfaketime();
  const directory = await mkdtemp(join(tmpdir(), 'tickless-faketime-'));
  try {
    const file = join(directory, 'offset');
    await writeFile(file, '+0\n');
    return await run({
      LD_PRELOAD: library,
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
