/** Maps ENOENT to `nothing`; rethrows other errors. */
export async function ignoreMissing<R, N>(promise: Promise<R>, nothing: N): Promise<R | N> {
  try {
    return await promise;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return nothing;
    throw error;
  }
}

/** The code of an error of the file system: `ENOENT`. */
export function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code;
}
