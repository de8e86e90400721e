interface Runtime {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> | undefined };
  readonly Deno?: unknown;
}

/**
 * A person who develops the service reads its log: not in production, not in tests. A runtime that does not tell counts as
 * production, and so does Deno, which would ask for a permission.
 */
export function isDevelopment({ process, Deno }: Runtime = globalThis as Runtime): boolean {
  const env = Deno === undefined ? process?.env : undefined;
  if (env === undefined || env.NODE_TEST_CONTEXT !== undefined) return false;
  return env.NODE_ENV !== 'production' && env.NODE_ENV !== 'test';
}
