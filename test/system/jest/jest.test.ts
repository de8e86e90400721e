import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';

const project = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../../../', import.meta.url));
const packageOfJest = `${project}node_modules/jest/package.json`;
const run = promisify(execFile);

/** What `jest --json` prints, as far as it is looked at here. */
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

/** Puts tickless into the project's node_modules as npm would: package.json and the build, here of the sources as they are. */
async function installTickless(): Promise<void> {
  const target = `${project}node_modules/tickless`;
  mkdirSync(target, { recursive: true });
  copyFileSync(`${root}package.json`, `${target}/package.json`);
  // Jest brings an old lru-cache along, so npm would put ours beneath tickless. The others are found at the root.
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
    // It ends with code 1 when a test fails; the report says which.
    const { stdout, stderr } = await run(process.execPath, [jest, '--json', '--no-cache'], {
      cwd: project,
      env,
    }).catch((ended: { stdout: string; stderr: string }) => ended);
    if (stdout === '') throw new Error(`Jest did not run:\n${stderr}`);
    const report = JSON.parse(stdout) as JestReport;
    expect(report.testResults.map(({ message }) => message).join('\n')).toBe('');
    expect(report).toMatchObject({ success: true, numTotalTests: 7, numPassedTests: 7 });
  }, 120_000);
});
