const OPENING = /[[{]/y;
const SPACE = /[ \t\n\r]*/y;
const COLON = /:/y;
const QUOTE = /"/y;
const PLAIN = /[ !#-[\]-\uffff]*/y; // anything but a quote, a backslash and control characters
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const BEGUN_ESCAPE = /\\(?:u[\da-fA-F]{0,3})?/y;
const WHOLE = /-?(?:0|[1-9]\d*)/y;
const MINUS = /-/y;
const POINT = /\./y;
const EXPONENT = /[eE][+-]?/y;
const DIGITS = /\d+/y;
const WORDS: readonly string[] = ['true', 'false', 'null'];

/**
 * Where a text stops being JSON: the offset of the first character that no JSON continues with; the length of the text, if it
 * ends too early. `undefined`: it is JSON. The errors of `JSON.parse` don't say it on all runtimes, and quote the text.
 */
export function jsonBreak(text: string): number | undefined {
  let at = 0;
  const closers: string[] = []; // of the arrays and objects around; a deep text must not overflow the stack

  const take = (what: RegExp): boolean => {
    what.lastIndex = at;
    const isFound = what.test(text);
    if (isFound) at = what.lastIndex;
    return isFound;
  };
  const string = (): boolean => {
    if (!take(QUOTE)) return false;
    do take(PLAIN);
    while (take(ESCAPE));
    return take(QUOTE) || (take(BEGUN_ESCAPE) && false);
  };
  const word = (letters: string): boolean =>
    Array.from(letters).every((letter) => text[at] === letter && ++at);
  const number = (): boolean => {
    if (!take(WHOLE)) return take(MINUS) && false;
    if (take(POINT) && !take(DIGITS)) return false;
    return !take(EXPONENT) || take(DIGITS);
  };
  const scalar = (): boolean => {
    if (text[at] === '"') return string();
    const letters = WORDS.find((one) => one[0] === text[at]);
    return letters === undefined ? number() : word(letters);
  };
  /** The key, if an object is around. */
  const key = (): boolean => {
    if (closers.at(-1) !== '}') return true;
    take(SPACE);
    if (!string()) return false;
    take(SPACE);
    return take(COLON);
  };
  const closes = (): boolean => {
    take(SPACE);
    return closers.length > 0 && text[at] === closers.at(-1);
  };

  for (;;) {
    take(SPACE);
    const isOpened = take(OPENING);
    if (isOpened) closers.push(text[at - 1] === '{' ? '}' : ']');
    else if (!scalar()) return at;
    if (isOpened && !closes()) {
      if (!key()) return at;
      continue;
    }
    for (; closes(); at += 1) closers.pop();
    if (closers.length === 0) return at === text.length ? undefined : at;
    if (text[at] !== ',') return at;
    at += 1;
    if (!key()) return at;
  }
}
