import type { Store } from '../../cluster/store-contract.ts';
import { createLock, type Lock, type LockOptions } from '../../lock/create-lock.ts';
import { RecordLock } from '../../lock/record-lock.ts';
import type { MemoryRecords } from '../../records/memory-records.ts';
import type { Records } from '../../records/records.ts';
import { createStore, type StoreOptions } from '../../store/create-store.ts';
import { RecordStore } from '../../store/record-store.ts';
import type { VirtualBackend } from './virtual-backend.ts';
import type { VirtualMachine } from './virtual-machine.ts';

/** The lock object of one process. The records name the instance as their owner. */
export function virtualLock(
  name: string,
  machine: VirtualMachine,
  backend: VirtualBackend<MemoryRecords>,
  options: LockOptions,
): Lock {
  const steps = new NamedLock(new VirtualRecords(name, machine, backend), name);
  return createLock(steps, options, { longestName: undefined, options: [], clock: machine });
}

/** The store object of one process. */
export function virtualStore(
  name: string,
  machine: VirtualMachine,
  backend: VirtualBackend<MemoryRecords>,
  options: StoreOptions,
): Store {
  const steps = new RecordStore(new VirtualRecords(name, machine, backend), options.keepVersions);
  return createStore(steps, options, { longestName: undefined, options: [], clock: machine });
}

class NamedLock extends RecordLock {
  readonly #name: string;

  constructor(records: Records, name: string) {
    super(records);
    this.#name = name;
  }

  override acquire(...[request]: Parameters<RecordLock['acquire']>): ReturnType<RecordLock['acquire']> {
    return super.acquire({ ...request, owner: this.#name, host: this.#name });
  }
}

/** The records of a backend, as a process has them over its connection. */
class VirtualRecords implements Records {
  readonly mostEdits: number = 1;
  readonly sharesCommands: boolean = true;
  readonly #send: <R>(command: (records: Records) => Promise<R>) => Promise<R>;

  constructor(name: string, machine: VirtualMachine, backend: VirtualBackend<MemoryRecords>) {
    this.#send = (command) => backend.send(name, machine, command);
  }

  apply(...args: Parameters<Records['apply']>): ReturnType<Records['apply']> {
    return this.#send((records) => records.apply(...args));
  }

  list(...args: Parameters<Records['list']>): ReturnType<Records['list']> {
    return this.#send((records) => records.list(...args));
  }

  editions(...args: Parameters<Records['editions']>): ReturnType<Records['editions']> {
    return this.#send((records) => records.editions(...args));
  }
}
