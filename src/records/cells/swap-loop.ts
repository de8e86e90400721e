import { CLOCK_BACK_MS } from '../../cluster/plausible.ts';
import { writeTimeoutMs } from '../../cluster/time-limits.ts';
import type { Cells, Change, Seen, Swap } from './cells.ts';
import type { ClockSpan, KnownClock } from './known-clock.ts';

/** After a long rest the clock is less well known than by an answer, which may tell it to a second: a look comes first. */
const WIDEST_MS = 1500;

/** Clocks count milliseconds. */
const SAME_MS = 1;

/** The decision of a step on a text. */
interface Decision<R> {
  /** `undefined`: the step changes nothing. */
  readonly swap?: Omit<Swap, 'before'> | undefined;
  /** The text has the end of a lease or a hold. */
  readonly isTimed?: boolean | undefined;
  readonly answer: R;
}

/** A step on the text of a name. */
export interface Step<R> extends Pick<Change, 'name' | 'op' | 'isWhole' | 'known'> {
  /** Whether a look comes first, always or where the text was not seen before. @default the first try takes it for absent then */
  readonly looksFirst?: 'always' | 'if unknown' | undefined;
  /** Gets the text, the backend's clock at that moment and the main text, as of the last answer. Pure: it may be called again. */
  readonly decide: (text: string | undefined, span: ClockSpan, main: string | undefined) => Decision<R>;
}

/** A step without an answer yet. */
interface Open<R> {
  readonly step: Step<R>;
  readonly index: number;
  /** `unknown`: a look comes next. */
  known: 'unknown' | 'remembered' | 'present';
  text: string | undefined;
  main: string | undefined;
  decision: Decision<R> | undefined;
}

/** How many texts are remembered. */
const MOST_KNOWN = 1000;

/** Longer ones are not remembered. In UTF-16 code units. */
const LONGEST_KNOWN = 8192;

/**
 * Steps that decide by a text, and swap it. A step begins with the text that it has seen last under the name: where no other
 * instance has changed it, the step is one command. Where the decision changes nothing, or the swap fails, it decides again by
 * the present text, which the answer has. Steps of several names share their commands.
 */
export class SwapLoop {
  readonly #cells: Cells;
  readonly #clock: KnownClock;
  readonly #known: Map<string, string> = new Map();

  constructor(cells: Cells, clock: KnownClock) {
    this.#cells = cells;
    this.#clock = clock;
  }

  /** The backend's clock at this moment, as learnt with its answers. @throws before the first answer. */
  span(): ClockSpan {
    return this.#clock.span();
  }

  /** The text that was seen last. */
  known(name: string): string | undefined {
    return this.#known.get(name);
  }

  /**
   * @param looks are sent with the first command of the steps.
   * @returns the answer or the error of each; those that have one keep it where a later command fails.
   * @throws where none has an answer; also at the deadline: no command begins after it. One that was sent before may still take effect.
   */
  async run<R>(
    steps: readonly Step<R>[],
    looks: readonly Change[] = [],
  ): Promise<{ readonly answers: readonly (R | Error)[]; readonly seen: readonly (Seen | Error)[] }> {
    const { timeoutMs = Infinity } = this.#cells;
    const isWrite = steps.some(({ op }) => op === 'put');
    const endAt = this.#clock.now() + (isWrite ? writeTimeoutMs(timeoutMs) : timeoutMs);
    const answers: (R | Error)[] = [];
    let seen: readonly (Seen | Error)[] = [];
    let open = this.#begun(steps);
    for (let isFirst = true; ; isFirst = false) {
      const decidedAt = this.#clock.now();
      const span = this.#decide(open, answers);
      open = open.filter(({ index }) => !(index in answers));
      const changes = [...open.map(changeOf), ...(isFirst ? looks : [])];
      if (changes.length === 0) return { answers, seen };
      const { now, answers: results } = await this.#sent(changes, isFirst ? Infinity : endAt).catch(
        (error: Error) => {
          if (open.length === steps.length && seen.length === 0) throw error;
          return { now: NaN, answers: changes.map(() => error) };
        },
      );
      this.#clock.learnTime(now, decidedAt);
      const wasOff = span !== undefined && this.#wasOff(span, decidedAt);
      for (const [i, one] of open.entries()) {
        const result = results[i] as Seen | Error;
        if (result instanceof Error) answers[one.index] = result;
        else if (this.#learn(one, result) && !(wasOff && one.decision?.isTimed === true))
          answers[one.index] = (one.decision as Decision<R>).answer;
      }
      if (isFirst) {
        seen = results.slice(open.length);
        for (const [i, { name }] of looks.entries()) this.#remember(name, seen[i]);
      }
      open = open.filter(({ index }) => !(index in answers));
    }
  }

  async #sent(changes: readonly Change[], endAt: number): ReturnType<Cells['swap']> {
    if (this.#clock.now() >= endAt) throw new Error('other instances were faster until the timeout');
    return this.#cells.swap(changes);
  }

  /** As of `Cells`. */
  async list(prefix: string, limit: number): Promise<readonly (readonly [name: string, text: string])[]> {
    const sentAt = this.#clock.now();
    const { now, texts } = await this.#cells.list(prefix, limit);
    this.#clock.learnTime(now, sentAt);
    return texts;
  }

  #begun<R>(steps: readonly Step<R>[]): Open<R>[] {
    const isClockKnown = this.#isClockKnown();
    return steps.map((step, index): Open<R> => {
      const text = this.#known.get(step.name);
      const looksFirst = text === undefined ? step.looksFirst !== undefined : step.looksFirst === 'always';
      const isKnown = isClockKnown && !looksFirst;
      return {
        step,
        index,
        text,
        known: isKnown ? 'remembered' : 'unknown',
        main: undefined,
        decision: undefined,
      };
    });
  }

  /** Answers the steps that change nothing at the present text. @returns the clock that was used, if it was. */
  #decide<R>(open: readonly Open<R>[], answers: (R | Error)[]): ClockSpan | undefined {
    if (open.every(({ known }) => known === 'unknown')) return undefined;
    const span = this.#clock.span();
    for (const one of open) {
      one.decision = one.known === 'unknown' ? undefined : one.step.decide(one.text, span, one.main);
      if (one.known === 'present' && one.decision?.swap === undefined)
        answers[one.index] = (one.decision as Decision<R>).answer;
    }
    return span;
  }

  /** @returns whether the swap of the step is done. */
  #learn<R>(one: Open<R>, seen: Seen): boolean {
    const { isDone, text, main } = seen;
    const before = one.text;
    const swap = one.decision?.swap;
    one.text = isDone ? swap?.after : text;
    one.main = main;
    // Some statements show the text as it was when they began.
    const isOfBefore = !isDone && swap !== undefined && text === before;
    one.known = isOfBefore ? 'unknown' : 'present';
    if (isOfBefore) one.decision = undefined;
    this.#remember(one.step.name, { isDone, text: one.text });
    return isDone;
  }

  #isClockKnown(): boolean {
    try {
      const { earliest, latest } = this.#clock.span();
      return latest - earliest <= WIDEST_MS;
    } catch {
      return false;
    }
  }

  /**
   * A step was decided by a clock that was behind, as the answer shows: the machine was suspended, or the backend's clock
   * set forward. The lease would end too early, so the step is taken again. So it is where that clock was set back so far that for
   * others the lease has not begun.
   */
  #wasOff({ earliest, latest }: ClockSpan, decidedAt: number): boolean {
    const passed = this.#clock.now() - decidedAt;
    const now = this.#clock.span();
    return now.earliest > latest + passed + SAME_MS || now.latest + CLOCK_BACK_MS < earliest + passed;
  }

  #remember(name: string, seen: Seen | Error | undefined): void {
    if (seen === undefined || seen instanceof Error) return;
    this.#known.delete(name);
    const { text } = seen;
    if (text === undefined || text.length > LONGEST_KNOWN) return;
    this.#known.set(name, text);
    if (this.#known.size <= MOST_KNOWN) return;
    const [oldest] = this.#known.keys();
    this.#known.delete(oldest as string);
  }
}

function changeOf({ step: { name, op, isWhole, known }, text, decision }: Open<unknown>): Change {
  const swap = decision?.swap;
  const look = { name, op, isWhole, known };
  return swap === undefined ? look : { ...look, swap: { ...swap, before: text } };
}
