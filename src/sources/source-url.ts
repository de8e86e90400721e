import { typeShown } from './option-types.ts';

const LONGEST_PATH = 300;

/** A URL for people: without credentials, fragment, and the values of its query; a long path is cut. */
export function urlName({ origin, protocol, pathname, search }: URL): string {
  if (origin === 'null') return protocol; // a URL of data: is its own content
  const path = pathname.length > LONGEST_PATH ? `${pathname.slice(0, LONGEST_PATH)}…` : pathname;
  const parts = search === '' ? [] : search.slice(1).split('&');
  const names = parts.slice(0, 10).map((part) => (part.includes('=') ? `${part.split('=', 1)}=…` : '…'));
  return `${origin}${path}${search === '' ? '' : '?'}${names.join('&')}`.slice(0, 2 * LONGEST_PATH);
}

/** Knows a URL again without keeping what is secret in it. */
export async function urlHash({ href }: URL): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(href));
  return Array.from(new Uint8Array(digest, 0, 8), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The reason why a URL can't be asked; `undefined`: it can. */
export function urlProblem(given: unknown): string | undefined {
  if (typeof given !== 'string' && !(given instanceof URL)) return 'something that is not a URL';
  if (!URL.canParse(given)) return 'a URL that is not absolute';
  return /^https?:$/.test(new URL(given).protocol)
    ? undefined
    : 'a URL that is neither of http: nor of https:';
}

/** Without what is never sent, nor shown. */
export function withoutSecrets(given: URL): URL {
  const url = new URL(given);
  url.username = url.password = url.hash = '';
  return url;
}

/**
 * A target that may be anything, for people: without credentials and query. Of a text that is not a URL, nothing is shown where it has
 * an `@`: a `/`, `?` or `#` in a password is what often makes it none. Of an object nothing is shown: its properties may be such URLs.
 */
export function targetName(target: unknown): unknown {
  if (typeof target === 'object' && !(target instanceof URL)) return typeShown(target);
  if (typeof target !== 'string' && !(target instanceof URL)) return target;
  if (URL.canParse(target)) return urlName(new URL(target));
  const text = String(target);
  return text.includes('@') ? '…@…' : text.replace(/[?#].*/s, '?…');
}
