/** The cases of {@link JwksError}. */
export type JwksErrorCode =
  | 'ERR_TICKLESS_JWKS_ALGORITHM'
  | 'ERR_TICKLESS_JWKS_NO_KEY'
  | 'ERR_TICKLESS_JWKS_SEVERAL_KEYS'
  | 'ERR_TICKLESS_JWKS_DISCOVERY'
  | 'ERR_TICKLESS_JWKS_SET';

/**
 * There is no key for a token, or what the issuer has published is none of its keys. Its `code` never changes between versions.
 *
 * Of a token; the library that verifies it rejects with this error, or with one of its own that has the message:
 *
 * - `ERR_TICKLESS_JWKS_ALGORITHM`: the `alg` of its header is not one of a signature with a public key (`none`, `HS256`), or its
 *   `kid` is not a string.
 * - `ERR_TICKLESS_JWKS_NO_KEY`: no key fits, after a load or within `unknownKey` of the last one. With a `cause` that load was
 *   not possible: the token may be signed by a key that is not known here yet.
 * - `ERR_TICKLESS_JWKS_SEVERAL_KEYS`: several keys fit, and the header does not tell which one.
 *
 * Of the issuer, as a `cause` of the `LOAD_FAILED` error; the keys in place stay:
 *
 * - `ERR_TICKLESS_JWKS_DISCOVERY`: its metadata is that of another issuer, or has no `jwks_uri` that may be used.
 * - `ERR_TICKLESS_JWKS_SET`: the document is not a set of keys, or none of them can verify a signature, or there are too many.
 */
export class JwksError extends Error {
  override readonly name: string = 'JwksError';
  readonly code: JwksErrorCode;

  constructor(code: JwksErrorCode, message: string, { cause }: { readonly cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** Whether it is a {@link JwksError}, of this or another installed copy of tickless. Never throws. */
export function isJwksError(error: unknown): error is JwksError {
  try {
    return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_TICKLESS_JWKS_');
  } catch {
    return false; // a revoked proxy, or a getter threw
  }
}
