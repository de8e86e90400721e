type Load = (...args: readonly unknown[]) => unknown;

/** The function that a module exports as `load`, or else as default. */
export async function findLoad(module: string): Promise<Load> {
  const found = (await import(/* @vite-ignore */ module)) as Record<string, unknown>;
  // What CommonJS exports is in `default`, be it a function or an object.
  const inner = (found.default ?? {}) as Record<string, unknown>;
  const candidates = [found.load, found.default, inner.load, inner.default];
  const load = candidates.find((one) => typeof one === 'function');
  if (load === undefined) throw new TypeError('it exports no function, neither as load nor as default');
  return load as Load;
}
