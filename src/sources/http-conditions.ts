import { parseHttpDate } from '../schedule/http-date.ts';
import { lastModified as lastModifiedAt } from '../schedule/last-modified.ts';
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
  const sentAt = parseHttpDate(headers.get('date') ?? undefined, now) ?? now;
  const editedAt = lastModifiedAt(lastModified ?? undefined, sentAt);
  const isReliable = editedAt !== undefined && sentAt - editedAt >= RELIABLE_AFTER_MS;
  return {
    ...(etag && etag.length <= LONGEST_ETAG && { etag }),
    ...(lastModified && { lastModified: isReliable ? lastModified : undefined }),
    ...(editedAt !== undefined && { editedAt }),
  };
}

/** A text that may be sent as a header (RFC 9110 §5.5); another one fails the request. */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]+$/;

/** The validators among notes: those that can be sent. Notes come from a store, which may have anything in their place. */
export function validatorsOf({ etag, lastModified }: SourceMeta): Pick<HttpNotes, 'etag' | 'lastModified'> {
  const isDate = typeof lastModified === 'string' && parseHttpDate(lastModified, 0) !== undefined;
  return {
    ...(typeof etag === 'string' && SENDABLE.test(etag) && { etag }),
    ...(isDate && { lastModified }),
  };
}

/** The headers that ask for a new edition only. */
export function conditionsOf(notes: SourceMeta): Readonly<Record<string, string>> {
  const { etag, lastModified } = validatorsOf(notes);
  return {
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
  };
}
