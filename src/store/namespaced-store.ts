import type { StoreBackend } from './store-backend.ts';

/** A backend of which a store uses the names that begin with `prefix`; its callers see them without it. */
export function namespacedStore(backend: StoreBackend, prefix: string): StoreBackend {
  const inside = <N extends { readonly name: string }>(named: N): N => ({
    ...named,
    name: prefix + named.name,
  });
  const { readMany, writeMany, history, versions } = backend;
  return {
    get takesReports() {
      return backend.takesReports;
    },
    read: (name, ...rest) => backend.read(prefix + name, ...rest),
    write: (name, ...rest) => backend.write(prefix + name, ...rest),
    delete: (name) => backend.delete(prefix + name),
    history: history && ((name) => history.call(backend, prefix + name)),
    versions:
      versions &&
      ((names, report) =>
        versions.call(
          backend,
          names.map((name) => prefix + name),
          report,
        )),
    reports: backend.reports?.bind(backend),
    readMany: readMany && ((reads, report) => readMany.call(backend, reads.map(inside), report)),
    writeMany: writeMany && ((writes, report) => writeMany.call(backend, writes.map(inside), report)),
  };
}
