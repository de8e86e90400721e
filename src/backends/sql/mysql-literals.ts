import { PARAMETER, parameterOf, type SqlParameters, type SqlValue } from './client.ts';

/** A statement with its parameters written in. */
export function withLiterals(sql: string, parameters: SqlParameters): string {
  return sql.replace(PARAMETER, (_, name: string) => literal(parameterOf(parameters, name)));
}

export function literal(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return `_utf8mb4 X'${hex(value)}'`;
  if (!Number.isFinite(value)) throw new TypeError(`SQL parameter is ${value}, expected a finite number`);
  return String(value);
}

/** The bytes of a text in base64, a third longer than they are; hexadecimal would take twice as many. */
export function longLiteral(text: string): string {
  return `FROM_BASE64(${base64(text)})`;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

const UTF_8 = new TextEncoder();

function hex(text: string): string {
  let digits = '';
  for (const byte of UTF_8.encode(text)) digits += HEX[byte];
  return digits;
}

/** An empty text is `X''`: in the mode EMPTY_STRING_IS_NULL `''` means NULL. */
function base64(text: string): string {
  if (text === '') return `X''`;
  const bytes = UTF_8.encode(text);
  let characters = '';
  for (let i = 0; i < bytes.length; i += SLICE) {
    const slice: ArrayLike<number> = bytes.subarray(i, i + SLICE);
    characters += btoa(String.fromCharCode.apply(null, slice as number[])); // spreading is three times slower
  }
  return `'${characters}'`;
}

/** Bytes per call. A multiple of three, so that only the last slice is padded. */
const SLICE = 0x6000;
