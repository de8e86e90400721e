/**
 * The directives of a Cache-Control header: the name in lower case, and its argument without quotes, `''` when there
 * is none. Of a directive that is given twice, the first one counts (RFC 9111 §4.2.1). Never throws, and takes time
 * in proportion to the length, whatever the header holds.
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
 * The seconds that an argument means, at most 2³¹; `undefined` when it is not a row of digits: negative, fractional,
 * empty, surrounded by blanks.
 *
 * @see RFC 9111 §1.2.2, delta-seconds
 */
export function deltaSeconds(argument: string | undefined): number | undefined {
  if (argument === undefined || !/^[0-9]+$/.test(argument)) return undefined;
  return Math.min(Number(argument), 2 ** 31);
}

/** The members of a list. Commas inside quotes do not count; a quote that is never closed is no quote. */
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
