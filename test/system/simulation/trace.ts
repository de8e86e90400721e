/** A readable trace of events. Lines are built only if the trace is requested. */
export class Trace {
  readonly lines: string[] = [];
  readonly #isOn: boolean;
  readonly #now: () => number;

  constructor(isOn: boolean, now: () => number) {
    this.#isOn = isOn;
    this.#now = now;
  }

  /** @param who an instance or one of its members. */
  add(who: string, what: () => string): void {
    if (!this.#isOn) return;
    const seconds = (this.#now() / 1000).toFixed(4).padStart(9);
    this.lines.push(`${seconds}  ${who.padEnd(12)} ${what()}`);
  }
}
