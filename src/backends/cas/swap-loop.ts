import { systemClock } from '../../time/clock.ts';
import type { ClockSpan } from './date-clock.ts';
import type { SwappableTexts, TextKey } from './texts.ts';

/** After a long rest the clock is less well known than by an answer, which tells it to a second: a read comes first. */
const WIDEST_MS = 1500;

/** Clocks count milliseconds. */
const SAME_MS = 1;

/** The decision of a step on a text. */
export interface Decision<R> {
  /** The next text, and for how long it is kept at least, in milliseconds. `undefined`: the step changes nothing. */
  readonly next?: { readonly text: string; readonly keepForMs: number } | undefined;
  readonly answer: R;
}

/** How many texts are remembered. */
const MOST_KNOWN = 1000;

/** Longer ones are not remembered. In UTF-16 code units. */
const LONGEST_KNOWN = 8192;

/**
 * Steps that read a text, decide and swap. A step begins with the text that it has seen last under the key: where no other
 * instance has changed it, the step is one command, and where the decision changes nothing, or the swap fails, it decides
 * again by the present text.
 */
export class SwapLoop {
  readonly #texts: SwappableTexts;
  readonly #known: Map<string, string> = new Map();

  constructor(texts: SwappableTexts) {
    this.#texts = texts;
  }

  /**
   * @param decide is called with the text and the backend's clock at that moment. Pure: it may be called again.
   * @throws at the deadline: no command begins after it. One that was sent before may still take effect.
   */
  async run<R>(key: TextKey, decide: (text: string | undefined, span: ClockSpan) => Decision<R>): Promise<R> {
    const endAt = systemClock.monotonic() + this.#texts.timeoutMs;
    const id = idOf(key);
    const remembered = this.#isClockKnown() ? this.#known.get(id) : undefined;
    let isPresent = remembered === undefined;
    let text = remembered ?? (await this.#read(key));
    for (;;) {
      const decidedAt = systemClock.monotonic();
      const span = this.#texts.span();
      const { next, answer } = decide(text, span);
      if (next === undefined) {
        if (isPresent) return answer;
        text = await this.#read(key);
      } else {
        const swapped = await this.#texts.swap(key, text, next.text, next.keepForMs);
        text = swapped.isDone ? next.text : swapped.present;
        this.#remember(id, text);
        if (swapped.isDone && !this.#wasBehind(span, decidedAt)) return answer;
      }
      isPresent = true;
      if (systemClock.monotonic() >= endAt) throw new Error('other instances were faster until the timeout');
    }
  }

  #isClockKnown(): boolean {
    try {
      const { earliest, latest } = this.#texts.span();
      return latest - earliest <= WIDEST_MS;
    } catch {
      return false;
    }
  }

  /** The present texts, which the next steps begin with. */
  async read(keys: readonly TextKey[]): Promise<(string | undefined)[]> {
    const texts = await this.#texts.read(keys);
    for (const [i, key] of keys.entries()) this.#remember(idOf(key), texts[i]);
    return texts;
  }

  async #read(key: TextKey): Promise<string | undefined> {
    return (await this.read([key]))[0];
  }

  /**
   * A step was decided by a clock that was behind, as the answer shows: the machine was suspended, or the backend's clock
   * set forward. The lease would end too early, so the step is taken again.
   */
  #wasBehind({ latest }: ClockSpan, decidedAt: number): boolean {
    const passed = systemClock.monotonic() - decidedAt;
    return this.#texts.span().earliest > latest + passed + SAME_MS;
  }

  #remember(id: string, text: string | undefined): void {
    this.#known.delete(id);
    if (text === undefined || text.length > LONGEST_KNOWN) return;
    this.#known.set(id, text);
    if (this.#known.size <= MOST_KNOWN) return;
    const [oldest] = this.#known.keys();
    this.#known.delete(oldest as string);
  }
}

function idOf({ partition, sort }: TextKey): string {
  return `${partition}\0${sort}`;
}
