import { parseHttpDate } from '../schedule/http-date.ts';
import type { HttpResponse } from './http-response.ts';
import type { SourceMeta } from './source.ts';

/** A longer `ETag` doesn't fit into the notes of a value. */
const LONGEST_ETAG = 1000;

/** A date changes once a second: one that is younger than that may have stood for another edition too (RFC 9110 §8.8.2.2). */
const RELIABLE_AFTER_MS = 1000;

/** The notes of a value about the response that it is from. */
export interface HttpNotes extends SourceMeta {
  readonly etag?: string;
  readonly lastModified?: string | undefined;
  /** Of the URL that has answered, after redirects. Validators are of that one only. */
  readonly urlHash?: string;
}

/** The validators of a response, and when it was edited. Those of "304 Not Modified" replace the ones of before (RFC 9111 §4.3.4). */
export function notesOf({ headers }: HttpResponse, now: number): HttpNotes {
  const [etag, lastModified] = [headers.get('etag'), headers.get('last-modified')];
  const editedAt = parseHttpDate(lastModified ?? undefined, now);
  const sentAt = parseHttpDate(headers.get('date') ?? undefined, now) ?? now;
  const isReliable = editedAt !== undefined && sentAt - editedAt >= RELIABLE_AFTER_MS;
  return {
    ...(etag && etag.length <= LONGEST_ETAG && { etag }),
    ...(lastModified && { lastModified: isReliable ? lastModified : undefined }),
    ...(editedAt !== undefined && { editedAt }),
  };
}

/** The headers that ask for a new edition only. */
export function conditionsOf({ etag, lastModified }: HttpNotes): Readonly<Record<string, string>> {
  return {
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
  };
}
