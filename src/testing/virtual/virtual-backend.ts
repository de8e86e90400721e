import type { Clock } from '../../time/clock.ts';
import type { VirtualMachine } from './virtual-machine.ts';
import { VirtualRemote } from './virtual-remote.ts';

/** The backend: records in memory, shared by all instances. */
export class VirtualBackend<E> extends VirtualRemote {
  readonly #make: () => E;
  #backend: E;

  /** @internal @param make a backend without records. */
  constructor(name: string, time: Clock, make: () => E) {
    super(name, time);
    this.#make = make;
    this.#backend = make();
  }

  /** Loses all its records, as a Redis without persistence that is restarted. Its condition remains. */
  empty(): void {
    this.#backend = this.#make();
  }

  /** @internal One command of an instance. */
  send<R>(instance: string, machine: VirtualMachine, command: (backend: E) => Promise<R>): Promise<R> {
    return this.ask(instance, machine, () => command(this.#backend));
  }
}
