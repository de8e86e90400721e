import type { Loaded } from '../index.ts';
import { type Body, parseBody } from '../sources/parse.ts';
import type { Source } from '../sources/source.ts';
import { type DocumentOptions, documentSource } from './http.ts';
import { tryImport } from './imported-keys.ts';
import { type Address, jwksUriOf, metadataUrls, type UrlRules } from './issuer.ts';
import { examineKeys, type KeySet, nameOf, requireKeys } from './key-set.ts';
import type { PublicJwk } from './public-jwk.ts';

/** The options of {@link keySource}. */
export interface KeySourceOptions extends DocumentOptions, UrlRules {
  readonly maxKeys: number;
  /** Gets the broken keys of each set that was read, with the reasons. */
  readonly onBroken: (broken: readonly string[]) => void;
}

/** Loads the keys of an address: from its URL, or from the one that the metadata of the issuer has now. */
export function keySource(address: Address, options: KeySourceOptions): Source<KeySet> {
  const from = address.kind === 'url' ? address.url : address.issuer;
  const parse = async ({ bytes }: Body): Promise<KeySet> => {
    const { keys, broken } = await examined(await parseBody(bytes), options.maxKeys);
    options.onBroken(broken);
    return { from, keys };
  };
  return async (context) => {
    const url =
      address.kind === 'url' ? address.url : await discover(address.issuer, context.signal, options);
    return await documentSource(url, parse, options)(context);
  };
}

/** The keys that this platform takes as well. @throws {JwksError} where there is none. */
async function examined(document: unknown, maxKeys: number): Promise<ReturnType<typeof examineKeys>> {
  const { keys, broken } = examineKeys(document, maxKeys);
  const problems = await Promise.all(keys.map(importProblem));
  const all = {
    keys: keys.filter((_, index) => problems[index] === undefined),
    broken: [...broken, ...problems.flatMap((problem) => problem ?? [])],
  };
  requireKeys(all);
  return all;
}

async function importProblem(key: PublicJwk, index: number): Promise<string | undefined> {
  try {
    await tryImport(key);
    return undefined;
  } catch (error) {
    return `${nameOf(key, index)} is not taken by this platform: ${(error as Error).message}`;
  }
}

/** Asks for the metadata of the issuer. The second URL is asked only where the first one is not found. */
async function discover(issuer: string, signal: AbortSignal, options: KeySourceOptions): Promise<string> {
  const parse = async ({ bytes }: Body): Promise<string> =>
    jwksUriOf(await parseBody(bytes), issuer, options);
  const [openid, oauth] = metadataUrls(issuer).map((url) => documentSource(url, parse, options));
  const answer = await openid?.({ signal }).catch((error) => {
    if ((error as { status?: unknown }).status !== 404) throw error;
    return oauth?.({ signal });
  });
  return (answer as Loaded<string>).loadedValue; // there is nothing that could be kept
}
