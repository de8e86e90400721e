import { deltaSeconds, parseCacheControl } from './cache-control.ts';
import { parseHttpDate } from './http-date.ts';
import { headerOf } from './http-headers.ts';
import { lastModified } from './last-modified.ts';
import type { HeadersLike } from './schedule.ts';

/** Freshness of a response, from its headers. */
export interface ResponseFreshness {
  /** Remaining freshness, negative if it is stale already; `undefined` without information. */
  readonly remainingMs: number | undefined;
  /** How long the response may be used after its freshness; `undefined` without information. */
  readonly graceMs: number | undefined;
}

/** How headers are read. */
export interface FreshnessRules {
  /** Applies the rules of a shared cache: `s-maxage` and `proxy-revalidate`. */
  readonly shared: boolean;
  /** The longest lifetime that is guessed from `Last-Modified`. */
  readonly maxHeuristicMs: number;
}

/**
 * Computes the freshness of a response from its headers. Never throws; no header results in `NaN`.
 *
 * @param receivedAt replaces a missing `Date`.
 */
export function responseFreshness(
  headers: HeadersLike,
  receivedAt: number,
  { shared, maxHeuristicMs }: FreshnessRules,
): ResponseFreshness {
  const directives = parseCacheControl(headerOf(headers, 'cache-control'));
  const lifetimeMs = lifetime(headers, directives, receivedAt, { shared, maxHeuristicMs });
  return {
    remainingMs: lifetimeMs === undefined ? undefined : lifetimeMs - age(headers),
    graceMs: grace(directives, shared),
  };
}

type Directives = ReturnType<typeof parseCacheControl>;

/** RFC 9111 §4.2.1. Invalid information counts as stale, so 0. */
function lifetime(
  headers: HeadersLike,
  directives: Directives,
  receivedAt: number,
  { shared, maxHeuristicMs }: FreshnessRules,
): number | undefined {
  // no-cache="field" is read as no-cache without a field, as §5.2.2.4 says is common.
  if (directives.has('no-store') || directives.has('no-cache')) return 0;
  for (const name of shared ? ['s-maxage', 'max-age'] : ['max-age']) {
    if (directives.has(name)) return (deltaSeconds(directives.get(name)) ?? 0) * 1000;
  }
  const dateOf = (name: string): number | undefined => parseHttpDate(headerOf(headers, name), receivedAt);
  const date = dateOf('date') ?? receivedAt;
  if (headerOf(headers, 'expires') !== undefined) return Math.max(0, (dateOf('expires') ?? date) - date);
  const sinceModified = date - (lastModified(headerOf(headers, 'last-modified'), date) ?? date);
  return sinceModified > 0 ? Math.min(sinceModified / 10, maxHeuristicMs) : undefined; // modified just now: no information
}

/** RFC 9111 §5.1: the first of several counts, an invalid one is ignored. */
function age(headers: HeadersLike): number {
  const first = headerOf(headers, 'age')?.replace(/,.*/s, '').trim();
  return (deltaSeconds(first) ?? 0) * 1000;
}

function grace(directives: Directives, shared: boolean): number | undefined {
  const forbids = ['no-store', 'no-cache', 'must-revalidate'];
  if (shared) forbids.push('proxy-revalidate');
  if (forbids.some((name) => directives.has(name))) return 0; // of two that conflict, the stricter (RFC 9111 §4.2.1)
  const grants = ['stale-while-revalidate', 'stale-if-error']
    .map((name) => deltaSeconds(directives.get(name)))
    .filter((seconds) => seconds !== undefined);
  if (grants.length > 0) return Math.max(...grants) * 1000;
  return shared && directives.has('s-maxage') ? 0 : undefined; // s-maxage implies proxy-revalidate (§5.2.2.10)
}
