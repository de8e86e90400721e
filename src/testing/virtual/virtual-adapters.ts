import type { Store } from '../../cluster/store-contract.ts';
import { createLock, type Lock, type LockOptions } from '../../lock/create-lock.ts';
import type { LockBackend } from '../../lock/lock-backend.ts';
import type { MemoryLock } from '../../lock/memory-lock.ts';
import { createStore, type StoreOptions } from '../../store/create-store.ts';
import type { MemoryStore } from '../../store/memory-store.ts';
import type { StoreBackend } from '../../store/store-backend.ts';
import type { VirtualBackend } from './virtual-backend.ts';
import type { VirtualMachine } from './virtual-machine.ts';

/** The lock object of one process. The records name the instance as their owner. */
export function virtualLock(
  name: string,
  machine: VirtualMachine,
  backend: VirtualBackend<MemoryLock>,
  options: LockOptions,
): Lock {
  const send = <R>(command: (engine: LockBackend) => Promise<R>): Promise<R> =>
    backend.send(name, machine, command);
  const steps: LockBackend = {
    acquire: (request) => send((engine) => engine.acquire({ ...request, owner: name, host: name })),
    extend: (...args) => send((engine) => engine.extend(...args)),
    release: (...args) => send((engine) => engine.release(...args)),
    find: (...args) => send((engine) => engine.find(...args)),
    list: (...args) => send((engine) => engine.list(...args)),
    forceRelease: (...args) => send((engine) => engine.forceRelease(...args)),
  };
  return createLock(steps, options, { longestName: undefined, options: [], clock: machine });
}

/** The store object of one process. */
export function virtualStore(
  name: string,
  machine: VirtualMachine,
  backend: VirtualBackend<MemoryStore>,
  options: StoreOptions,
): Store {
  const send = <R>(command: (engine: MemoryStore) => Promise<R>): Promise<R> =>
    backend.send(name, machine, command);
  const steps: StoreBackend = {
    takesReports: true,
    read: (...args) => send((engine) => engine.read(...args)),
    write: (...args) => send((engine) => engine.write(...args)),
    delete: (...args) => send((engine) => engine.delete(...args)),
    versions: (...args) => send((engine) => engine.versions(...args)),
    history: (...args) => send((engine) => engine.history(...args)),
    reports: (...args) => send((engine) => engine.reports(...args)),
  };
  return createStore(steps, options, { longestName: undefined, options: [], clock: machine });
}
