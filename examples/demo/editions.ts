import { createHash } from 'node:crypto';
import zipcodes from 'zipcodes';

/** One state of the data set, ready to be sent. */
export interface Edition {
  readonly etag: string;
  readonly body: Buffer;
}

/** All postal codes of the United States and Canada. @param edition makes the contents, and so the ETag, differ. */
export function makeEdition(edition: number): Edition {
  const body = Buffer.from(JSON.stringify({ edition, places: Object.values(zipcodes.codes) }));
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  return { etag, body };
}
