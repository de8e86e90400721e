import type { Loaded } from '../index.ts';
import type { Body } from '../sources/body.ts';
import type { HttpSourceOptions } from '../sources/http-source.ts';
import { httpSource } from '../sources/http-source.ts';
import { parseBody } from '../sources/parse.ts';
import type { Source, SourceContext } from '../sources/source.ts';
import { type Address, jwksUriOf, metadataUrls, type UrlRules } from './issuer.ts';
import { type ExaminedKeys, examineKeys, type KeySet, nameOf, requireKeys } from './key-set.ts';
import type { PublicJwk } from './public-jwk.ts';
import { tryImport } from './public-jwk.ts';

/** The options of {@link keySource}. */
export interface KeySourceOptions
  extends UrlRules,
    Pick<HttpSourceOptions<unknown>, 'maxBytes' | 'headers' | 'fetch'> {
  readonly maxKeys: number;
  /** Gets the broken keys of each set that was read, with the reasons. */
  readonly onBroken: (broken: readonly string[]) => void;
}

/**
 * Loads the keys of an address: from its URL, or from the one that the metadata of the issuer has now.
 *
 * @throws {TicklessError} `OPTION` for headers that can't be sent.
 */
export function keySource(
  { kind, from }: Address,
  { maxKeys, onBroken, allowHttp, ...http }: KeySourceOptions,
): Source<KeySet> {
  const { origin } = new URL(from);
  const keysAt = documentSource(http, origin, async (document): Promise<KeySet> => {
    const { keys, broken } = await examineAndImport(document, maxKeys);
    onBroken(broken);
    return { from, keys };
  });
  const uriIn = documentSource(http, origin, (metadata) => jwksUriOf(metadata, from, { allowHttp }));
  if (kind === 'url') return keysAt(from);
  const [openid, oauth] = metadataUrls(from).map((url) => uriIn(url)) as [Source<string>, Source<string>];
  return async (context) => keysAt(await discover(openid, oauth, context))(context);
}

/**
 * Sources of documents in JSON. No redirect is followed: an open redirect of the issuer must not choose its keys.
 *
 * @param origin the only one that gets the headers: they may be credentials.
 */
function documentSource<T>(
  { headers, ...http }: Pick<HttpSourceOptions<unknown>, 'maxBytes' | 'headers' | 'fetch'>,
  origin: string,
  read: (document: unknown) => T | Promise<T>,
): (url: string) => Source<T> {
  const parse = async ({ bytes }: Body): Promise<T> => read(await parseBody(bytes));
  return (url) =>
    httpSource(() => new Request(url, { redirect: 'manual' }), {
      ...http,
      parse,
      headers: new URL(url).origin === origin ? headers : undefined,
    });
}

/** The URL of the keys. The second source is asked only where the first one does not find anything. */
async function discover(
  openid: Source<string>,
  oauth: Source<string>,
  { signal }: SourceContext,
): Promise<string> {
  const answer = await openid({ signal }).catch((error) => {
    if (!isNotFound(error)) throw error;
    return oauth({ signal }).catch((second) => {
      throw isNotFound(second) ? withoutMetadata(second) : second;
    });
  });
  return (answer as Loaded<string>).loadedValue; // without `previous` there is nothing that it could keep
}

function isNotFound(error: unknown): boolean {
  return (error as { readonly status?: unknown }).status === 404;
}

function withoutMetadata(cause: Error): Error {
  return new Error(
    `${cause.message}: for an issuer without metadata give the URL of its keys: jwks({ url })`,
    { cause },
  );
}

/** The keys that this platform takes as well. @throws {JwksError} where there is none. */
async function examineAndImport(document: unknown, maxKeys: number): Promise<ExaminedKeys> {
  const { keys, broken } = examineKeys(document, maxKeys);
  const problems = await Promise.all(keys.map(importProblem));
  const examined = {
    keys: keys.filter((_, index) => problems[index] === undefined),
    broken: [...broken, ...problems.flatMap((problem) => problem ?? [])],
  };
  requireKeys(examined);
  return examined;
}

async function importProblem(key: PublicJwk, index: number): Promise<string | undefined> {
  try {
    await tryImport(key);
    return undefined;
  } catch (error) {
    return `${nameOf(key, index)} is not taken by this platform: ${(error as Error).message}`;
  }
}
