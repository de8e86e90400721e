import type { VirtualMachine } from './virtual-machine.ts';
import { VirtualRemote } from './virtual-remote.ts';

/** The source of the data: calls the function of the option `source`, as its condition says. */
export class VirtualSource<T, A extends unknown[]> extends VirtualRemote {
  readonly #answer: (...args: A) => T | Promise<T>;
  #wrong: { readonly value: T } | undefined;

  /** @internal */
  constructor(answer: (...args: A) => T | Promise<T>, ...rest: ConstructorParameters<typeof VirtualRemote>) {
    super(...rest);
    this.#answer = answer;
  }

  /** Returns this value instead of those of the function, until `up()`. It may be slow, down or silent meanwhile. */
  wrong(value: T): void {
    this.#wrong = { value };
  }

  /** Answers at once again, and with the values of the function. Calls that got no answer meanwhile never get one. */
  override up(): void {
    super.up();
    this.#wrong = undefined;
  }

  /** @internal The source as one instance calls it. */
  for(instance: string, machine: VirtualMachine): (...args: A) => Promise<T> {
    return (...args) => {
      return this.ask(instance, machine, () => (this.#wrong ? this.#wrong.value : this.#answer(...args)));
    };
  }
}
