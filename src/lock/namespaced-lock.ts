import type { LockBackend, LockRow } from './lock-backend.ts';

/** A backend of which a lock uses the names that begin with `prefix`; its callers see them without it. */
export function namespacedLock(backend: LockBackend, prefix: string): LockBackend {
  const inside = <N extends { readonly name: string }>(named: N): N => ({
    ...named,
    name: prefix + named.name,
  });
  const outside = (row: LockRow): LockRow => ({ ...row, name: row.name.slice(prefix.length) });
  const { acquireMany, releaseMany, extendMany } = backend;
  return {
    acquire: async (request) => outside(await backend.acquire(inside(request))),
    extend: (lease, leaseFor) => backend.extend(inside(lease), leaseFor),
    release: (lease, ending) => backend.release(inside(lease), ending),
    find: async (name) => {
      const row = await backend.find(prefix + name);
      return row && outside(row);
    },
    list: async (names, limit) => (await backend.list(prefix + names, limit)).map(outside),
    forceRelease: (name, token) => backend.forceRelease(prefix + name, token),
    warning: async () => backend.warning?.(),
    ...(acquireMany && {
      acquireMany: async (requests) => {
        const rows = await acquireMany.call(backend, requests.map(inside));
        return rows.map((row) => (row instanceof Error ? row : outside(row)));
      },
    }),
    ...(releaseMany && {
      releaseMany: (ends) =>
        releaseMany.call(
          backend,
          ends.map(({ lease, ending }) => ({ lease: inside(lease), ending })),
        ),
    }),
    ...(extendMany && {
      extendMany: (extensions) =>
        extendMany.call(
          backend,
          extensions.map(({ lease, leaseFor }) => ({ lease: inside(lease), leaseFor })),
        ),
    }),
  };
}
