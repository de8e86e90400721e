let underWay = 0;

/** Imports a part that most programs never need, when it is first asked for. Rejects where a bundler has left it out. */
export async function lateImport<Module>(load: () => Promise<Module>): Promise<Module> {
  underWay += 1;
  try {
    return await load();
  } finally {
    underWay -= 1;
  }
}

/** Virtual time waits for it. */
export function isImportAwaited(): boolean {
  return underWay > 0;
}
