import { parseHttpDate } from './http-date.ts';

/** Older than the web: the epochs of systems, archives and builds (1601, 1970, 1980, 1985), and not the time of an edit. */
const PLACEHOLDERS_BEFORE_MS = Date.UTC(1990, 0);

/**
 * When a response says that it was edited, in epoch milliseconds; `undefined`: it does not, or it says a time that can't be: a
 * placeholder, or one after the response itself (RFC 9110 §8.8.2.1).
 *
 * @param header `Last-Modified`.
 * @param sentAt the `Date` of the response.
 */
export function lastModified(header: string | undefined, sentAt: number): number | undefined {
  const at = parseHttpDate(header, sentAt);
  return at !== undefined && at >= PLACEHOLDERS_BEFORE_MS && at <= sentAt ? at : undefined;
}
