/**
 * A text in base64url without padding, as RFC 7515 writes it. Many issuers publish padding, the standard alphabet or line breaks, and the
 * libraries that verify take these; the bytes are the same ones.
 */
export function base64urlOf(text: string): string {
  const unbroken = text.replace(/\s+/g, '').replace(/={1,2}$/, '');
  return unbroken.replaceAll('+', '-').replaceAll('/', '_');
}

/** @throws for a text that is not base64url. */
export function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
