import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';

const project = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../../../', import.meta.url));
const packageOfJest = `${project}node_modules/jest/package.json`;
const run = promisify(execFile);

/** The fields of the output of `jest --json` that this test reads. */
interface JestReport {
  readonly success: boolean;
  readonly numTotalTests: number;
  readonly numPassedTests: number;
  readonly testResults: readonly { readonly message: string }[];
}

function versionIn(path: string, read: (content: never) => string): string | undefined {
  return existsSync(path) ? read(JSON.parse(readFileSync(path, 'utf8')) as never) : undefined;
}

/** Installs Jest where it is missing or not the pinned version. */
async function installJest(): Promise<void> {
  const pinned = versionIn(
    `${project}package.json`,
    (own: { devDependencies: { jest: string } }) => own.devDependencies.jest,
  );
  const installed = versionIn(packageOfJest, (jest: { version: string }) => jest.version);
  if (installed === pinned) return;
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: project });
}

/** Installs tickless into the project's node_modules as npm would: package.json and a build of the present sources. */
async function installTickless(): Promise<void> {
  const target = `${project}node_modules/tickless`;
  mkdirSync(target, { recursive: true });
  copyFileSync(`${root}package.json`, `${target}/package.json`);
  // Jest depends on an old lru-cache, so npm would nest ours in tickless. The other dependencies are found at the root.
  cpSync(`${root}node_modules/lru-cache`, `${target}/node_modules/lru-cache`, { recursive: true });
  await run(process.execPath, [`${root}scripts/build.mjs`, `${target}/dist`]);
}

describe('in a project that tests with Jest', () => {
  beforeAll(async () => {
    await installJest();
    await installTickless();
  }, 300_000);

  it('the fake timers of Jest move a value', async () => {
    const env = { ...process.env, NODE_OPTIONS: '--experimental-vm-modules --no-warnings', CI: 'true' };
    const jest = `${project}node_modules/jest/bin/jest.js`;
    // Jest exits with code 1 if a test fails; the report names the test.
    const { stdout, stderr } = await run(process.execPath, [jest, '--json', '--no-cache'], {
      cwd: project,
      env,
    }).catch((ended: { stdout: string; stderr: string }) => ended);
    if (stdout === '') throw new Error(`Jest did not run:\n${stderr}`);
    const report = JSON.parse(stdout) as JestReport;
    expect(report.testResults.map(({ message }) => message).join('\n')).toBe('');
    expect(report).toMatchObject({ success: true, numTotalTests: 4, numPassedTests: 4 });
  }, 120_000);
});
