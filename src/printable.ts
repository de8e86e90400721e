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

function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const kept = text.slice(0, longest - 1);
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}…`; // never half a character
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
