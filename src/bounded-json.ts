/** No data of people is nested as deeply. Snapshots are written up to it, so that each one that was written is read. */
export const MOST_DEPTH = 10_000;

/** Arrays and objects: of small ones `JSON.parse` makes some 100 times the memory of their text, and takes as much longer. */
const MOST_PARTS = 2 ** 22;
/** Where a text is so large that more fit in, it may have as many as this share of its characters. */
const CHARACTERS_PER_PART = 16;

/**
 * `JSON.parse` of a text from outside, in a time and a memory that its length bounds: a text that is nested deeper than 10,000 levels,
 * or is little else than brackets, is refused before it is parsed.
 *
 * @throws {SyntaxError} also for a text that is not JSON.
 */
export function parseJson(text: string): unknown {
  const excess = excessOf(text);
  if (excess !== undefined) throw new SyntaxError(`the JSON is ${excess}`);
  return JSON.parse(text);
}

/** How many arrays, objects, lines or rows a text may have. */
export function mostParts({ length }: string): number {
  return Math.max(MOST_PARTS, Math.floor(length / CHARACTERS_PER_PART));
}

/** The reason why a text is too much to parse; `undefined`: there is none. */
export function excessOf(text: string): string | undefined {
  const { length } = text;
  if (length <= MOST_DEPTH) return undefined; // there is no room for it
  const most = mostParts(text);
  let [depth, count] = [0, 0];
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if ((code | 32) === OPENS) {
      depth += 1;
      count += 1;
      if (depth > MOST_DEPTH) return `nested deeper than ${MOST_DEPTH} levels`;
      if (count > most) return `of more than ${most} arrays and objects`;
    } else if ((code | 32) === CLOSES) depth -= 1;
  }
  return undefined;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `{` and, without one bit, `[`. */
const OPENS = 0x7b;
/** `}` and, without one bit, `]`. */
const CLOSES = 0x7d;

/** Where the string that begins there ends; the end of the text, if it does not. */
function endOfString(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = end;
    while (text.charCodeAt(escapes - 1) === BACKSLASH) escapes -= 1;
    if ((end - escapes) % 2 === 0) return end;
  }
  return text.length;
}
