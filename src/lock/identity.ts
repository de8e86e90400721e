/** A name that nobody else takes: 128 random bits. */
export function randomId(): string {
  return crypto.randomUUID();
}

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
  host ??= hostName();
  return host;
}

/** This process, unique per start. Its beginning is for people. Not made before it is needed: workerd forbids that. */
export function thisProcess(): string {
  owner ??= `${process?.pid ?? 'worker'}-${randomId()}`;
  return owner;
}

function hostName(): string {
  try {
    const name = process?.getBuiltinModule?.('node:os')?.hostname?.();
    return name ?? process?.env?.HOSTNAME ?? process?.env?.COMPUTERNAME ?? 'unknown';
  } catch {
    return 'unknown'; // a runtime that does not allow to ask
  }
}
