import { fileURLToPath } from 'node:url';
import { type Ended, runNode } from '../../processes/child.ts';

/** How a fixture is run. */
export interface FixtureOptions {
  readonly args?: readonly string[];
  /** The Node that runs it, one that reads TypeScript. @default ours, with tsx */
  readonly node?: string | undefined;
}

/** Runs a script of `fixtures/` in a process of its own, on the sources. @returns also the lines that it printed. */
export async function runFixture(
  fixture: string,
  { args = [], node }: FixtureOptions = {},
): Promise<Ended & { readonly lines: readonly string[] }> {
  const script = fileURLToPath(new URL(`../fixtures/${fixture}.ts`, import.meta.url));
  const loader = node === undefined ? ['--import', 'tsx'] : [];
  const env = { NODE_NO_WARNINGS: '1' }; // a module that is still an experiment would be warned of
  const ended = await runNode([...loader, script, ...args], env, undefined, node);
  return { ...ended, lines: ended.stdout.split('\n').filter((line) => line !== '') };
}
