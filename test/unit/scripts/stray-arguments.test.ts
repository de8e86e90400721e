import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const folder = join(import.meta.dirname, '../../../scripts');
const scripts = readdirSync(folder).filter((name) => name.endsWith('.mjs') && !name.includes('.config.'));

const run = (script: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(folder, script), ...args], { encoding: 'utf8', timeout: 50_000 });

it.each(scripts)('%s refuses an argument that it does not know, and does nothing', (script) => {
  const { status, stdout, stderr } = run(script, 'no-such-thing', 'nor-that');
  expect(stdout).toBe('');
  expect(stderr).toMatch(/no-such-thing|nor-that/);
  expect([1, 2]).toContain(status);
});

/** They pass options on to Vitest, or to a program that takes them. */
const PASSES_ON = ['bench.mjs', 'console.mjs', 'integration.mjs', 'openfeature.mjs'];

it.each(scripts.filter((script) => !PASSES_ON.includes(script)))(
  '%s refuses an option that it does not know',
  (script) => {
    const { status, stdout, stderr } = run(script, '--no-such-option');
    expect(stdout).toBe('');
    expect(stderr).toContain('--no-such-option');
    expect([1, 2]).toContain(status);
  },
);

it('all steps that are named are run, or none', () => {
  const { status, stdout } = run('test.mjs', '--only', 'prose', 'core', '--list');
  expect([status, stdout.includes('npm run test:all')]).toEqual([0, true]);
  const refused = run('test.mjs', '--only', 'prose', 'typo');
  expect([refused.status, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain(': typo');
  expect(run('planted.mjs', '--list', '--fault', 'waits', 'typo').stderr).toContain('"typo"');
});
