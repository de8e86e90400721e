import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from '../../../../../scripts/support/integration.mjs';

/** Runs a program to its end. Rejects with what it printed where it fails. */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: { readonly uid?: number; readonly gid?: number; readonly cwd?: string } = {},
): Promise<string> {
  const env = { ...process.env, LC_ALL: 'C.UTF-8' };
  const { stdout } = await promisify(execFile)(file, [...args], { env, timeout: 120_000, ...options });
  return stdout;
}

/** The path of the first of these programs that is installed. */
export function program(...names: readonly [string, ...string[]]): string {
  const path = findProgram(...names);
  if (path === undefined) throw new Error(`${names[0]} is not installed`);
  return path;
}

/** The version that a program tells, without what is behind the numbers. */
export async function versionOf(file: string): Promise<string> {
  const text = await runProgram(file, ['--version']);
  return /\d+\.\d+(\.\d+)?/.exec(text)?.[0] ?? text.trim();
}
