// The keys of an issuer, for the libraries that verify its tokens.

export { type Jwks, jwks } from './jwks.ts';
export { isJwksError, JwksError, type JwksErrorCode } from './jwks-error.ts';
export type { JwksOptions } from './jwks-options.ts';
export type { KeySet, TokenHeader } from './key-set.ts';
export type { PublicJwk } from './public-jwk.ts';
