/** The context of the call that is on the stack, for code that it calls before its first `await`. */
export class OnStack<C> {
  #context: C | undefined;

  /** Calls a function for which {@link context} is there. */
  run<R>(context: C, call: () => R): R {
    const outer = this.#context; // a synchronous call may make another one
    this.#context = context;
    try {
      return call();
    } finally {
      this.#context = outer;
    }
  }

  /** `undefined`: none is on the stack. */
  get context(): C | undefined {
    return this.#context;
  }
}
