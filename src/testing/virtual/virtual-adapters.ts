import type { Backend } from '../../engine/backend.ts';
import { type BackendOptions, resolveBackendOptions } from '../../records/backend-options.ts';
import { createLock } from '../../records/lock/create-lock.ts';
import type { MemoryRecords } from '../../records/memory-records.ts';
import type { Edit, Records } from '../../records/records.ts';
import { createStore } from '../../records/store/create-store.ts';
import type { VirtualBackend } from './virtual-backend.ts';
import type { VirtualMachine } from './virtual-machine.ts';

/** The backend object of one process. The records of its lock name the instance as their owner. */
export function virtualBackend(
  name: string,
  machine: VirtualMachine,
  backend: VirtualBackend<MemoryRecords>,
  options: BackendOptions,
): Backend {
  const kind = { longestName: undefined, options: [], clock: machine };
  const resolved = resolveBackendOptions(options, kind);
  return {
    lock: createLock(new NamedRecords(name, machine, backend), resolved, kind),
    store: createStore(new VirtualRecords(name, machine, backend), resolved, kind),
  };
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

/** Claims name the process, whatever the real one is. */
class NamedRecords extends VirtualRecords {
  readonly #holder: string;

  constructor(name: string, machine: VirtualMachine, backend: VirtualBackend<MemoryRecords>) {
    super(name, machine, backend);
    this.#holder = JSON.stringify({ owner: name, host: name });
  }

  override apply(edits: readonly Edit[]): ReturnType<Records['apply']> {
    return super.apply(edits.map((edit) => (edit.op === 'claim' ? { ...edit, text: this.#holder } : edit)));
  }
}
