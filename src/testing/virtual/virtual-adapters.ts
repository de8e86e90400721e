import type { Backend } from '../../engine/backend.ts';
import { type BackendOptions, resolveBackendOptions } from '../../records/backend-options.ts';
import type { Cells } from '../../records/cells/cells.ts';
import { KnownClock } from '../../records/cells/known-clock.ts';
import type { MemoryCells } from '../../records/cells/memory-cells.ts';
import { SwappedRecords } from '../../records/cells/swapped-records.ts';
import { createParts } from '../../records/create-parts.ts';
import type { Edit, Records } from '../../records/records.ts';
import type { VirtualBackend } from './virtual-backend.ts';
import type { VirtualMachine } from './virtual-machine.ts';

/** The backend object of one process. The records of its lock name the instance as their owner. */
export function virtualBackend(
  name: string,
  machine: VirtualMachine,
  backend: VirtualBackend<MemoryCells>,
  options: BackendOptions,
): Backend {
  const kind = { longestName: undefined, options: [], clock: machine };
  const resolved = resolveBackendOptions(options, kind);
  const cells = new VirtualCells(name, machine, backend);
  return createParts(new NamedRecords(name, machine, cells), resolved, kind);
}

/** All machines count the time alike. */
function clockOn(machine: VirtualMachine): KnownClock {
  return new KnownClock(() => machine.monotonic(), true);
}

/** The cells of a backend, as a process has them over its connection. */
class VirtualCells implements Cells {
  readonly sharesCommands: boolean = true;
  readonly #send: <R>(command: (cells: Cells) => Promise<R>) => Promise<R>;

  constructor(name: string, machine: VirtualMachine, backend: VirtualBackend<MemoryCells>) {
    this.#send = (command) => backend.send(name, machine, command);
  }

  swap(...args: Parameters<Cells['swap']>): ReturnType<Cells['swap']> {
    return this.#send((cells) => cells.swap(...args));
  }

  long(...args: Parameters<Cells['long']>): ReturnType<Cells['long']> {
    return this.#send((cells) => cells.long(...args));
  }

  list(...args: Parameters<Cells['list']>): ReturnType<Cells['list']> {
    return this.#send((cells) => cells.list(...args));
  }
}

/** Claims name the process, whatever the real one is. */
class NamedRecords extends SwappedRecords {
  readonly #holder: string;

  constructor(name: string, machine: VirtualMachine, cells: Cells) {
    super(cells, Infinity, clockOn(machine));
    this.#holder = JSON.stringify({ owner: name, host: name });
  }

  override apply(edits: readonly Edit[]): ReturnType<Records['apply']> {
    return super.apply(edits.map((edit) => (edit.op === 'claim' ? { ...edit, text: this.#holder } : edit)));
  }
}
