/** A signature algorithm of JWS that is verified with a public key. */
export interface Algorithm {
  /** The type of key that it needs. */
  readonly kty: PublicKeyType;
  /** The curve of that key; not present: it needs none. */
  readonly crv?: string;
  /** With what WebCrypto imports that key. */
  readonly parameters: { readonly name: string; readonly hash?: string; readonly namedCurve?: string };
}

/** The types of keys that have a public part. `oct` has none: it is a shared secret. */
export type PublicKeyType = 'RSA' | 'EC' | 'OKP';

const rsa = (name: string, bits: number): Algorithm => ({
  kty: 'RSA',
  parameters: { name, hash: `SHA-${bits}` },
});
const ec = (crv: string): Algorithm => ({ kty: 'EC', crv, parameters: { name: 'ECDSA', namedCurve: crv } });
const ed25519: Algorithm = { kty: 'OKP', crv: 'Ed25519', parameters: { name: 'Ed25519' } };

/**
 * By the name in the header of a token (RFC 7518 §3.1, RFC 8037, RFC 9864). A map: the name comes from outside, and no property
 * of an object answers to it. `none` and HMAC are not in it, so no token chooses them.
 */
export const ALGORITHMS: ReadonlyMap<string, Algorithm> = /* @__PURE__ */ new Map([
  ['RS256', rsa('RSASSA-PKCS1-v1_5', 256)],
  ['RS384', rsa('RSASSA-PKCS1-v1_5', 384)],
  ['RS512', rsa('RSASSA-PKCS1-v1_5', 512)],
  ['PS256', rsa('RSA-PSS', 256)],
  ['PS384', rsa('RSA-PSS', 384)],
  ['PS512', rsa('RSA-PSS', 512)],
  ['ES256', ec('P-256')],
  ['ES384', ec('P-384')],
  ['ES512', ec('P-521')],
  ['EdDSA', ed25519],
  ['Ed25519', ed25519],
]);

/** The key is of the type and the curve that the algorithm needs. */
export function isKeyFor(
  { kty, crv }: { readonly kty: string; readonly crv?: string },
  algorithm: Algorithm,
): boolean {
  return kty === algorithm.kty && (algorithm.crv === undefined || crv === algorithm.crv);
}
