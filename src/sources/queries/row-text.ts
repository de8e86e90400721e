import type { Statement } from './session.ts';

/** Characters of an answer that is kept as it is. */
const LONGEST_ANSWER = 200;

/** Characters of a statement that names its source. */
const LONGEST_NAME = 200;

/** The rows of the cheap query, for comparison: as they are, or their hash. */
export async function answerText(rows: readonly unknown[]): Promise<string> {
  const text = jsonOf(rows);
  return text.length <= LONGEST_ANSWER ? text : `sha256:${await sha256(text)}`;
}

/** Names a statement: its text, and a hash where that is cut, or has values, which are not shown. */
export async function statementName({ sql, params }: Statement): Promise<string> {
  const text = sql.replace(/\s+/g, ' ').trim();
  if (text.length <= LONGEST_NAME && params.length === 0) return text;
  return `${text.slice(0, LONGEST_NAME)} #${(await sha256(jsonOf([sql, params]))).slice(0, 16)}`;
}

/** Numbers of any size have a text of their own, and so have the bytes of a column. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, name, part) {
    if (typeof part === 'bigint') return String(part);
    const held = this[name]; // not what its `toJSON` returns
    return held instanceof Uint8Array ? textOfBytes(held) : part;
  });
}

/** Each byte is a character, so that none is lost: they need not be a text. */
function textOfBytes(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
}

async function sha256(text: string): Promise<string> {
  const hash = await globalThis.crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
