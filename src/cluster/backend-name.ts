/** The longest name of a lock or a snapshot, in bytes of UTF-8; a longer one is refused before anything is loaded. */
export const LONGEST_NAME_BYTES = 8192;

/** 128 bits of SHA-256 as hexadecimal digits: two names that share a hash do not occur by accident. */
const HASH_DIGITS = 32;
/** Before the hash. */
const SEPARATOR = '~';
const HASH_BYTES = HASH_DIGITS + SEPARATOR.length;

/** A name that ends as a hashed one: it is hashed too, so that it is not the name of another one. */
const HASHED = new RegExp(`${SEPARATOR}[0-9a-f]{${HASH_DIGITS}}$`);

/** Whether a text has at most `bytes` bytes in UTF-8. */
export function isWithin(text: string, bytes: number): boolean {
  return text.length * 3 <= bytes || new TextEncoder().encode(text).length <= bytes;
}

/**
 * The name under which a backend keeps a lock or a snapshot: the name itself where the backend accepts it, else its
 * readable beginning with a hash of the whole, `cities["a very long k~5f0c…`.
 *
 * @param longest what the backend accepts, in bytes of UTF-8.
 * @returns `undefined`: the backend accepts not even the hash.
 */
export function backendName(name: string, longest: number = Infinity): string | Promise<string> | undefined {
  if (isWithin(name, longest) && (longest === Infinity || !HASHED.test(name))) return name;
  return longest < HASH_BYTES ? undefined : hashedName(name, longest);
}

async function hashedName(name: string, longest: number): Promise<string> {
  const bytes = new TextEncoder().encode(name);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  // `stream` leaves out a character that the cut has split.
  const beginning = new TextDecoder().decode(bytes.subarray(0, longest - HASH_BYTES), { stream: true });
  return `${beginning}${SEPARATOR}${hash.slice(0, HASH_DIGITS)}`;
}
