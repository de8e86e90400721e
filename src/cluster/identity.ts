/** A unique name: 128 random bits. */
export function randomId(): string {
  return crypto.randomUUID();
}

/** The used part of the runtime's `process`, where it has one. */
interface ProcessLike {
  readonly pid?: number;
  readonly env?: { readonly HOSTNAME?: string; readonly COMPUTERNAME?: string };
  getBuiltinModule?(name: string): { hostname?(): string } | undefined;
}

const { process } = globalThis as { readonly process?: ProcessLike };

let host: string | undefined;
let owner: string | undefined;

/** The name of the machine, for people; `'unknown'` where the runtime does not provide it. */
export function thisHost(): string {
  host ??= hostOf(process);
  return host;
}

/** This process, unique per start. It begins with the process id, for people. Created on first use: workerd forbids randomness before. */
export function thisProcess(): string {
  owner ??= ownerOf(process);
  return owner;
}

export function ownerOf({ pid }: ProcessLike = {}): string {
  return `${pid ?? 'worker'}-${randomId()}`;
}

export function hostOf(runtime: ProcessLike = {}): string {
  try {
    const name = runtime.getBuiltinModule?.('node:os')?.hostname?.();
    const { env = {} } = runtime;
    return name ?? env.HOSTNAME ?? env.COMPUTERNAME ?? 'unknown';
  } catch {
    return 'unknown'; // a runtime that forbids the call
  }
}
