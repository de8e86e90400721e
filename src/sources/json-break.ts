/**
 * Where a text stops being JSON: the offset of the first character that no JSON continues with; the length of the text, if it
 * ends too early. `undefined`: it is JSON. The errors of `JSON.parse` don't say it on all runtimes, and quote the text.
 */
export function jsonBreak(text: string): number | undefined {
  const scan = new JsonScan(text);
  return scan.document() ? undefined : scan.at;
}

/** Each method reads one thing, and returns `false` with `at` where that breaks off. */
class JsonScan {
  readonly #text: string;
  at: number = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): boolean {
    const closers: string[] = []; // of the arrays and objects around; a deep text must not overflow the stack
    for (;;) {
      this.#space();
      const opened = this.#takeAny('{[');
      if (opened !== undefined) {
        closers.push(opened === '{' ? '}' : ']');
        this.#space();
        if (this.#text[this.at] !== closers.at(-1)) {
          if (opened === '{' && !this.#key()) return false;
          continue;
        }
      } else if (!this.#scalar()) return false;
      this.#close(closers);
      if (closers.length === 0) return this.at === this.#text.length;
      if (!this.#take(',')) return false;
      if (closers.at(-1) === '}' && !this.#key()) return false;
    }
  }

  /** The ends of arrays and objects that follow, and the space after them. */
  #close(closers: string[]): void {
    this.#space();
    while (closers.length > 0 && this.#take(closers.at(-1) as string)) {
      closers.pop();
      this.#space();
    }
  }

  #key(): boolean {
    this.#space();
    if (!this.#string()) return false;
    this.#space();
    return this.#take(':');
  }

  #scalar(): boolean {
    switch (this.#text[this.at]) {
      case '"':
        return this.#string();
      case 't':
        return this.#word('true');
      case 'f':
        return this.#word('false');
      case 'n':
        return this.#word('null');
      default:
        return this.#number();
    }
  }

  #string(): boolean {
    if (!this.#take('"')) return false;
    while (!this.#take('"')) {
      if (this.#take('\\')) {
        if (!this.#escape()) return false;
      } else if (this.#text.charCodeAt(this.at) >= 0x20) this.at += 1;
      else return false; // a control character, or the end
    }
    return true;
  }

  #escape(): boolean {
    if (!this.#take('u')) return this.#takeAny('"\\/bfnrt') !== undefined;
    return [1, 2, 3, 4].every(() => this.#takeAny('0123456789abcdefABCDEF') !== undefined);
  }

  #number(): boolean {
    this.#take('-');
    if (!this.#take('0') && !this.#digits()) return false;
    if (this.#take('.') && !this.#digits()) return false;
    if (this.#takeAny('eE') === undefined) return true;
    this.#takeAny('+-');
    return this.#digits();
  }

  #digits(): boolean {
    const from = this.at;
    while (this.#takeAny('0123456789') !== undefined);
    return this.at > from;
  }

  #word(word: string): boolean {
    return Array.from(word).every((letter) => this.#take(letter));
  }

  #space(): void {
    while (this.#takeAny(' \t\n\r') !== undefined);
  }

  #take(character: string): boolean {
    if (this.#text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  #takeAny(characters: string): string | undefined {
    const character = this.#text[this.at];
    if (character === undefined || !characters.includes(character)) return undefined;
    this.at += 1;
    return character;
  }
}
