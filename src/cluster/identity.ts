/** A name that nobody else takes: 128 random bits. */
export function randomId(): string {
  return crypto.randomUUID();
}

/** What is used of the runtime's `process`, where it has one. */
interface ProcessLike {
  readonly pid?: number;
  readonly env?: { readonly HOSTNAME?: string; readonly COMPUTERNAME?: string };
  getBuiltinModule?(name: string): { hostname?(): string } | undefined;
}

const { process } = globalThis as { readonly process?: ProcessLike };

let host: string | undefined;
let owner: string | undefined;

/** The machine, for people: its name, where the runtime tells. */
export function thisHost(): string {
  host ??= hostOf(process);
  return host;
}

/** This process, unique per start. Its beginning is for people. Not made before it is needed: workerd forbids that. */
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
    return 'unknown'; // a runtime that does not allow to ask
  }
}
