import { showKey } from '../errors.ts';
import { type OptionChecks, ownOptions } from '../option-checks.ts';
import { isPlainObject } from '../plain-object.ts';
import { targetName, urlName } from '../sources/source-url.ts';
import { JwksError } from './jwks-error.ts';

/** Where the keys are: at an issuer, whose metadata has their URL, or at a URL. */
export interface Address {
  readonly kind: 'issuer' | 'url';
  /** The issuer to the letter, or the URL. */
  readonly from: string;
}

/** The URLs that {@link Address} may have. */
export interface UrlRules {
  /** Plain HTTP counts as well. */
  readonly allowHttp: boolean;
}

/** Reads the first argument of `jwks`: a text is an issuer, an object has a `url`. Broken rules go to `checks`. */
export function addressOf(given: unknown, rules: UrlRules, checks: OptionChecks): Address {
  if (isPlainObject(given)) {
    checks.names('', given, ['url']);
    const url = String(ownOptions(given).url);
    const problem = urlProblem(url, rules);
    checks.that(problem === undefined, 'url', `must be ${problem}`, targetName(ownOptions(given).url));
    return { kind: 'url', from: problem === undefined ? new URL(url).href : url };
  }
  const problem = typeof given === 'string' ? issuerProblem(given, rules) : 'a text, or an object with a url';
  checks.that(problem === undefined, 'issuer', `must be ${problem}`, targetName(given));
  return { kind: 'issuer', from: String(given) };
}

/** An address for people: of a URL, the values of its query are not shown. */
export function addressName(from: string): string {
  return /[?#]/.test(from) ? urlName(new URL(from)) : from;
}

/** As metadata and tokens name an issuer: RFC 8414 §2. */
function issuerProblem(issuer: string, rules: UrlRules): string | undefined {
  const problem = urlProblem(issuer, rules);
  if (problem !== undefined || !/[?#]/.test(issuer)) return problem;
  return 'without a query and a fragment; the URL of the keys is given as { url }';
}

/** The rule that a URL breaks, to follow `must be`. `undefined`: none. */
function urlProblem(text: string, { allowHttp }: UrlRules): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return 'a URL';
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) {
    return allowHttp ? 'an https: or http: URL' : 'an https: URL (allowHttp: true takes http: too)';
  }
  return url.username === '' && url.password === '' ? undefined : 'a URL without a user and a password';
}

/**
 * Where an issuer has its metadata: as OpenID Connect Discovery 1.0 §4 says, and where that is not found as RFC 8414 §3 does, which
 * puts its own part before the path.
 */
export function metadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
}

/**
 * The URL of the keys in the metadata of an issuer. Metadata that names another issuer is not its own, also from its host (OpenID
 * Connect Discovery 1.0 §4.3, RFC 8414 §3.3).
 *
 * @throws {JwksError}
 */
export function jwksUriOf(metadata: unknown, issuer: string, rules: UrlRules): string {
  const own = isPlainObject(metadata) ? ownOptions(metadata) : {};
  if (own.issuer !== issuer) {
    throw invalid(
      `it is the metadata of ${showKey(own.issuer)}, and must be that of ${showKey(issuer)}, to the letter`,
    );
  }
  const { jwks_uri: uri } = own;
  const problem = typeof uri === 'string' ? urlProblem(uri, rules) : 'a URL';
  if (problem !== undefined)
    throw invalid(`its jwks_uri must be ${problem}, received ${showKey(targetName(uri))}`);
  return uri as string;
}

function invalid(message: string): JwksError {
  return new JwksError('ERR_TICKLESS_JWKS_DISCOVERY', message);
}
