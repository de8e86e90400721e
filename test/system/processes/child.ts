import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** An exited process. */
export interface Ended {
  /** The exit code; `null` when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Milliseconds from the last line on stdout to the end; from the start when there was none. */
  readonly lingered: number;
}

export interface RunOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Kills the process with SIGKILL after this time. @default 60 000 ms */
  readonly timeoutMs?: number;
}

/** Runs a script of `fixtures/` in a Node process of its own, on the sources, without a build. */
export function runFixture(
  fixture: string,
  { args = [], env = {}, timeoutMs }: RunOptions = {},
): Promise<Ended> {
  const script = fileURLToPath(new URL(`fixtures/${fixture}.ts`, import.meta.url));
  return runNode(['--import', 'tsx', script, ...args], env, timeoutMs);
}

/** Runs Node with the given arguments. @param node which. @default ours */
export function runNode(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  timeoutMs: number = 60_000,
  node: string = process.execPath,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(node, args, {
      env: { ...withoutTestRunner(process.env), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    let lastLineAt = performance.now();
    let endedAt = Number.NaN;
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      lastLineAt = performance.now();
      output.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.stderr += text;
    });
    child.on('error', reject);
    child.on('exit', () => {
      endedAt = performance.now();
    });
    child.on('close', (code, signal) => resolve({ code, signal, ...output, lingered: endedAt - lastLineAt }));
  });
}

/** Parses the last line of output of the fixture. Throws with the whole output if that is not JSON. */
export function reportOf<T>(ended: Ended): T {
  const line = ended.stdout.trim().split('\n').at(-1);
  try {
    return JSON.parse(line ?? '') as T;
  } catch {
    throw new Error(
      `no report from the process (code ${ended.code}, signal ${ended.signal}):\n${ended.stdout}\n${ended.stderr}`,
    );
  }
}

/** Without Vitest's own settings (NODE_OPTIONS, VITEST…), which must not affect the child. */
function withoutTestRunner(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(NODE_OPTIONS|NODE_V8_COVERAGE|VITEST.*|TEST)$/.test(name)),
  );
}
