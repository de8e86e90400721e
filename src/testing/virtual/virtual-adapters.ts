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
  const send = <R>(command: (backend: LockBackend) => Promise<R>): Promise<R> =>
    backend.send(name, machine, command);
  const steps: LockBackend = {
    acquire: (request) => send((backend) => backend.acquire({ ...request, owner: name, host: name })),
    extend: (...args) => send((backend) => backend.extend(...args)),
    release: (...args) => send((backend) => backend.release(...args)),
    find: (...args) => send((backend) => backend.find(...args)),
    list: (...args) => send((backend) => backend.list(...args)),
    forceRelease: (...args) => send((backend) => backend.forceRelease(...args)),
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
  const send = <R>(command: (backend: MemoryStore) => Promise<R>): Promise<R> =>
    backend.send(name, machine, command);
  const steps: StoreBackend = {
    takesReports: true,
    read: (...args) => send((backend) => backend.read(...args)),
    write: (...args) => send((backend) => backend.write(...args)),
    delete: (...args) => send((backend) => backend.delete(...args)),
    versions: (...args) => send((backend) => backend.versions(...args)),
    history: (...args) => send((backend) => backend.history(...args)),
    reports: (...args) => send((backend) => backend.reports(...args)),
  };
  return createStore(steps, options, { longestName: undefined, options: [], clock: machine });
}
