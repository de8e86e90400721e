/**
 * A checksum of a text in eight hexadecimal digits: FNV-1a of 32 bits over its UTF-16 code units.
 *
 * It notices accidents: any one character that was changed for certain, other damage but for one case in four
 * billion. It is no signature: who wants to can make another text of the same sum.
 *
 * @see http://www.isthe.com/chongo/tech/comp/fnv/
 */
export function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
