import type { EventOf, TicklessEvent } from '../../../../src/index.ts';
import type { Change, Loaded, LoadRun, Subject, Watch } from '../subject.ts';
import type { World } from '../world.ts';

/** `unknown`: the load of a batch does not know the tokens of its keys. */
type Version = number | undefined | 'unknown';

/** The event `changed`: once per replacement, in their order, with the value before, the cause and the version. */
export class Replacements implements Watch {
  readonly #subject: Subject;
  readonly #world: World;
  /** The values of loads here, with their tokens. */
  readonly #tokens: Map<number, Version> = new Map();
  #last: unknown;
  /** The value may have left since the last event. */
  #hasLeft = true;
  #adopted: number | undefined;

  constructor(subject: Subject, world: World) {
    this.#subject = subject;
    this.#world = world;
  }

  began({ serial, token, isBatched }: LoadRun): void {
    this.#tokens.set(serial, isBatched ? 'unknown' : token);
  }

  ended({ same, token, isBatched }: LoadRun): void {
    if (same !== undefined) this.#tokens.set(same, isBatched ? 'unknown' : token);
  }

  changed({ kind }: Change): void {
    if (kind === 'drop') this.#hasLeft = true;
  }

  emitted(event: TicklessEvent): void {
    if (event.type === 'evicted' || (event.type === 'load-ended' && event.isAbsent)) this.#hasLeft = true;
    if (event.type === 'load-ended' && event.outcome === 'adopted') {
      this.#adopted = event.version;
      if (this.#subject.peek() === undefined) this.#hasLeft = true;
    }
    if (event.type === 'changed') this.#replaced(event as EventOf<'changed', Loaded>);
  }

  stepped(): void {
    const value = this.#subject.peek();
    this.#holds(value === undefined || value === this.#last, 'a replacement without an event');
    if (value === undefined) this.#hasLeft = true;
  }

  #replaced(event: EventOf<'changed', Loaded>): void {
    const { value, previous, cause, version } = event;
    this.#holds(value !== this.#last, `a second event of value ${value.serial}`);
    if (previous === undefined)
      this.#holds(this.#hasLeft, `no value before ${value.serial}, and there was one`);
    else this.#holds(previous === this.#last, `the value before ${value.serial} is not the last one`);
    const expected = this.#versionBy(cause, value);
    this.#holds(expected !== 'wrong', `value ${value.serial} came by ${cause}`);
    const isRight = version === expected || expected === 'unknown';
    this.#holds(isRight, `value ${value.serial}: version ${version}, not ${expected}`);
    this.#last = value;
    this.#hasLeft = false;
  }

  #versionBy(cause: EventOf<'changed'>['cause'], { serial, revision }: Loaded): Version | 'wrong' {
    if (cause === 'loaded') return this.#tokens.has(serial) ? this.#tokens.get(serial) : 'wrong';
    if (cause === 'adopted') return this.#adopted;
    return cause === 'set' && revision === -1 ? undefined : 'wrong';
  }

  #holds(condition: boolean, message: string): void {
    this.#world.referee.holds('changed', condition, () => `${this.#subject.id}: ${message}`);
  }
}
