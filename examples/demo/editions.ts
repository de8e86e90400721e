import { createHash } from 'node:crypto';
import zipcodes from 'zipcodes';

/** One state of the data set, ready to be sent. */
export interface Edition {
  readonly etag: string;
  readonly body: Buffer;
}

/** What is wrong with an edition. `half`: every second code is missing. `no-cities`: it is whole, with empty names. */
export type Flaw = 'half' | 'no-cities';

/** All postal codes of the United States and Canada. @param edition makes the contents, and so the ETag, differ. */
export function makeEdition(edition: number, flaw?: Flaw): Edition {
  const body = Buffer.from(JSON.stringify({ edition, places: placesWith(flaw) }));
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  return { etag, body };
}

function placesWith(flaw: Flaw | undefined): readonly zipcodes.Place[] {
  const places = Object.values(zipcodes.codes);
  switch (flaw) {
    case 'half':
      return places.filter((_, index) => index % 2 === 0);
    case 'no-cities':
      return places.map((place) => ({ ...place, city: '' }));
    case undefined:
      return places;
  }
}
