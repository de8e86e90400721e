/** A random UUID: 122 random bits, unique in practice. */
export function randomId(): string {
  return crypto.randomUUID();
}

/** The members of the runtime's `process` that are used, where the runtime has one. */
interface ProcessLike {
  readonly pid?: number;
  readonly env?: { readonly HOSTNAME?: string; readonly COMPUTERNAME?: string };
  getBuiltinModule?(name: string): { hostname?(): string } | undefined;
}

const { process } = globalThis as { readonly process?: ProcessLike };

let host: string | undefined;
let owner: string | undefined;
let instances = 0;

/** Host name, for people; `'unknown'` where the runtime does not give one. */
export function thisHost(): string {
  host ??= hostOf(process);
  return host;
}

/** Id of this process, unique per start; begins with the process id, for people. Made on first use: workerd forbids it earlier. */
export function thisProcess(): string {
  owner ??= ownerOf(process);
  return owner;
}

/**
 * Id of an instance of the fleet, unique: a process has one for each store object, since each reports its own members. The
 * first one is that of the process.
 */
export function newInstance(): string {
  instances += 1;
  return instances === 1 ? thisProcess() : `${thisProcess()}/${instances}`;
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
    return 'unknown'; // a runtime that denies access
  }
}
