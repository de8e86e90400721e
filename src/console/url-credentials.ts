/** Stands for what is not shown. */
export const HIDDEN = '[hidden]';

/**
 * A text with the users and passwords of its URLs hidden: `redis://[hidden]@host`. Each character is looked at a few times,
 * whatever the text is.
 */
export function withoutUrlCredentials(text: string): string {
  let [shown, from, tokenEnd, lastAt] = ['', 0, 0, -1];
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', Math.max(at + 3, from))) {
    const begin = at + 3;
    if (begin >= tokenEnd) {
      tokenEnd = endOfToken(text, begin);
      lastAt = begin + text.slice(begin, tokenEnd).lastIndexOf('@');
    }
    const end = endOfCredentials(text, begin, tokenEnd, lastAt);
    if (end === begin) continue;
    shown += text.slice(from, begin) + HIDDEN;
    from = end;
  }
  return shown + text.slice(from);
}

function endOfToken(text: string, begin: number): number {
  const delimiter = /[\s"'`<>]/g;
  delimiter.lastIndex = begin;
  return delimiter.exec(text)?.index ?? text.length;
}

/**
 * Where they end, of a URL whose host or user begins here; `begin`: it has none.
 *
 * @param lastAt where the last @ of all that follows is; before `begin`: there is none.
 */
function endOfCredentials(text: string, begin: number, tokenEnd: number, lastAt: number): number {
  const slash = /[/?#]/g;
  slash.lastIndex = begin;
  const authority = text.slice(begin, Math.min(slash.exec(text)?.index ?? tokenEnd, tokenEnd));
  const colon = authority.startsWith('[') ? -1 : authority.indexOf(':');
  if (colon < 0 && authority.includes('@')) return begin + authority.lastIndexOf('@');
  if (colon >= 0 && lastAt >= begin) return lastAt; // a password may have a slash, and an @
  // Without an @ the URL was cut within its password, or what follows the colon is a port.
  const isCut = begin + authority.length === tokenEnd && authority.endsWith('…');
  return isCut || (colon >= 0 && !/^:\d{0,5}(?!\w)/.test(authority.slice(colon))) ? tokenEnd : begin;
}
