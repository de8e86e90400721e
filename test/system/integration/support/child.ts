import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A process that has ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it printed. */
  readonly lines: readonly string[];
  readonly stderr: string;
}

/** How a fixture is run. */
export interface FixtureOptions {
  readonly args?: readonly string[];
  /** The Node that runs it, one that reads TypeScript. @default ours, with tsx */
  readonly node?: string | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** It is killed after that. @default 60 000 ms */
  readonly timeoutMs?: number;
}

/** Runs a script of `fixtures/` in a process of its own, on the sources. */
export function runFixture(
  fixture: string,
  { args = [], node, env = {}, timeoutMs = 60_000 }: FixtureOptions = {},
): Promise<Ended> {
  const script = fileURLToPath(new URL(`../fixtures/${fixture}.ts`, import.meta.url));
  const loader = node === undefined ? ['--import', 'tsx'] : [];
  return new Promise((resolve, reject) => {
    const child = spawn(node ?? process.execPath, [...loader, script, ...args], {
      // A module that is still an experiment would be warned of.
      env: { ...withoutTestRunner(process.env), NODE_NO_WARNINGS: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const lines = output.stdout.split('\n').filter((line) => line !== '');
      resolve({ code, signal, lines, stderr: output.stderr });
    });
  });
}

/** Vitest's own settings (NODE_OPTIONS, VITEST…) are none of the child's business. */
function withoutTestRunner(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(NODE_OPTIONS|NODE_V8_COVERAGE|VITEST.*|TEST)$/.test(name)),
  );
}
