import { type Redact, shownText } from './redact.ts';

/** Of an error or a problem, in characters. */
const LONGEST_MESSAGE = 1000;

/** A message as operators see it. */
export type ShowMessage = (message: string) => string;

export function shownMessage(message: string, redact: Redact): string {
  return shownText(message, LONGEST_MESSAGE, redact);
}

/** Messages as operators see them. In an outage thousands of members have one in each overview: it is made when it is new. */
export class ShownTexts {
  readonly #redact: Redact;
  #texts: Map<string, string> = new Map();
  #before: ReadonlyMap<string, string> = new Map();

  constructor(redact: Redact) {
    this.#redact = redact;
  }

  /** Forgets the messages that were not asked for since the last call. */
  begin(): void {
    this.#before = this.#texts;
    this.#texts = new Map();
  }

  of(message: string): string {
    const shown =
      this.#texts.get(message) ?? this.#before.get(message) ?? shownMessage(message, this.#redact);
    this.#texts.set(message, shown);
    this.#texts.set(shown, shown);
    return shown;
  }

  /** Whether a text is the result of {@link of}, without credentials. */
  has(text: string): boolean {
    return (this.#texts.get(text) ?? this.#before.get(text)) === text;
  }
}
