import type { SnapshotStore } from '../cluster/store-contract.ts';

type Engine = Pick<SnapshotStore, 'read' | 'write' | 'delete' | 'readMany' | 'writeMany'>;

/** A backend of which a store uses the names that begin with `prefix`; its callers see them without it. */
export function namespacedStore(backend: Engine, prefix: string): Engine {
  const inside = <N extends { readonly name: string }>(named: N): N => ({
    ...named,
    name: prefix + named.name,
  });
  const { readMany, writeMany } = backend;
  return {
    read: (name, newerThan) => backend.read(prefix + name, newerThan),
    write: (name, ...rest) => backend.write(prefix + name, ...rest),
    delete: (name) => backend.delete(prefix + name),
    readMany: readMany && ((reads) => readMany.call(backend, reads.map(inside))),
    writeMany: writeMany && ((writes) => writeMany.call(backend, writes.map(inside))),
  };
}
