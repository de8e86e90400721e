/**
 * A checksum of a text in eight hexadecimal digits: FNV-1a of 32 bits over its UTF-16 code units.
 *
 * It detects accidents: any single changed character for certain, other damage in all but one case of four billion. It
 * does not protect against forgery: another text of the same checksum is easy to make.
 *
 * @see http://www.isthe.com/chongo/tech/comp/fnv/
 */
export function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
