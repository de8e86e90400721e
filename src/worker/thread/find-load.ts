type Load = (...args: readonly unknown[]) => unknown;

/** Imports the module, and finds the function that it exports as `load`, or else as default. */
export async function findLoad(module: string): Promise<Load> {
  const found = (await import(module)) as Record<string, unknown>;
  // The `default` of a CommonJS module is its `module.exports`: a function, or an object of exports.
  const inner = (found.default ?? {}) as Record<string, unknown>;
  const candidates = [found.load, found.default, inner.load, inner.default];
  const load = candidates.find((one) => typeof one === 'function');
  if (load === undefined) throw new TypeError('the module exports no function as load or default');
  return load as Load;
}
