/** How long a token is valid. */
const VALID_MS = 12 * 3_600_000;

const encoder = new TextEncoder();

/** Tokens that only a page of this origin can read: a request that bears one was not made by another site. */
export class CsrfTokens {
  readonly #secret: string | undefined;
  #key: Promise<CryptoKey> | undefined;

  /** @param secret the same on all instances whose tokens are to be valid on each other; `undefined`: a random one. */
  constructor(secret: string | undefined) {
    this.#secret = secret;
  }

  /** @param now epoch milliseconds. */
  async issue(by: string, now: number): Promise<string> {
    const until = now + VALID_MS;
    return `${until}.${await this.#sign(by, until)}`;
  }

  /** It was issued for this operator, and is not over. */
  async isValid(token: string | null, by: string, now: number): Promise<boolean> {
    const [, digits, signature] = /^(\d{1,16})\.([0-9a-f]{64})$/.exec(token ?? '') ?? [];
    if (digits === undefined || signature === undefined) return false;
    const until = Number(digits);
    if (until <= now || until > now + VALID_MS) return false;
    return isSame(signature, await this.#sign(by, until));
  }

  async #sign(by: string, until: number): Promise<string> {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const secret =
      this.#secret === undefined ? crypto.getRandomValues(new Uint8Array(32)) : encoder.encode(this.#secret);
    this.#key ??= crypto.subtle.importKey('raw', secret, algorithm, false, ['sign']);
    const signed = await crypto.subtle.sign('HMAC', await this.#key, encoder.encode(`${until}\n${by}`));
    return Array.from(new Uint8Array(signed), (byte) => byte.toString(16).padStart(2, '0')).join('');
  }
}

/** Takes as long wherever they differ. */
function isSame(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}
