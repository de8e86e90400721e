/** In characters: 1 kB of plain text. */
const LONGEST = 1024;

/** Control characters, lone surrogates, line and paragraph separators, all marks for the direction of text. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]/gu;

/**
 * Text from outside as log lines and error messages contain it: names, keys, messages of other errors. Line breaks and
 * tabs become a space. Other characters that terminals and log readers act on are escaped (`\u001b`). Applied twice it is the
 * same.
 *
 * @param longest in characters; the rest is cut off. @default 1024
 */
export function printable(text: string, longest: number = LONGEST): string {
  const oneLine = cut(text, longest).replace(/\s+/g, (blank) => (/[\r\n\t]/.test(blank) ? ' ' : blank));
  return cut(oneLine.replace(UNPRINTABLE, escaped), longest);
}

/** The first of them, and how many more there are: `one, two and 3 more`; with another separator `one; two; and 3 more`. */
export function firstFew<One>(
  all: readonly One[],
  most: number,
  show: (one: One) => string,
  separator: string = ', ',
): string {
  const shown = all.slice(0, most).map(show).join(separator);
  const more = all.length - most;
  return more > 0 ? `${shown}${separator === ', ' ? ' ' : separator}and ${more} more` : shown;
}

function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const kept = text.slice(0, longest - 1);
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}…`; // never half a character
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
