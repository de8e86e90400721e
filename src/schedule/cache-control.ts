/**
 * Parses the directives of a Cache-Control header: names in lower case, arguments without quotes, `''` for a directive
 * without an argument. The first of repeated directives counts (RFC 9111 §4.2.1). Never throws; the time is linear in
 * the length of the header.
 *
 * @see RFC 9111 §5.2: `#( token [ "=" ( token / quoted-string ) ] )`, either form of argument for any directive.
 */
export function parseCacheControl(header: string | undefined): ReadonlyMap<string, string> {
  const directives = new Map<string, string>();
  for (const member of splitAtCommas(header ?? '')) {
    const equals = member.indexOf('=');
    const name = (equals === -1 ? member : member.slice(0, equals)).trim().toLowerCase();
    const argument = equals === -1 ? '' : unquote(member.slice(equals + 1));
    if (name !== '' && !directives.has(name)) directives.set(name, argument);
  }
  return directives;
}

/**
 * Parses an argument in seconds, capped at 2³¹; `undefined` unless it consists of digits: negative, fractional, empty
 * and padded arguments are invalid.
 *
 * @see RFC 9111 §1.2.2, delta-seconds
 */
export function deltaSeconds(argument: string | undefined): number | undefined {
  if (argument === undefined || !/^[0-9]+$/.test(argument)) return undefined;
  return Math.min(Number(argument), 2 ** 31);
}

/** Splits a list at its commas outside of quotes. An unclosed quote is an ordinary character. */
function splitAtCommas(list: string): string[] {
  const members: string[] = [];
  let start = 0;
  for (let at = 0; at < list.length; at++) {
    if (list[at] === ',') {
      members.push(list.slice(start, at));
      start = at + 1;
    } else if (list[at] === '"') {
      const end = endOfQuotes(list, at);
      if (end === -1) return [...members, ...list.slice(start).split(',')];
      at = end;
    }
  }
  return [...members, list.slice(start)];
}

function endOfQuotes(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '"') return at;
    if (text[at] === '\\') at++;
  }
  return -1;
}

function unquote(argument: string): string {
  const text = argument.trimEnd();
  return text.length > 1 && text.startsWith('"') && text.endsWith('"')
    ? text.slice(1, -1).replace(/\\(.)/gs, '$1')
    : text;
}
