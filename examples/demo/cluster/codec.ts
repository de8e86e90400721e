import type { Codec } from 'tickless';
import type { Place } from 'zipcodes';
import type { PostalCodes } from '../postal-codes.ts';

type Encoded = Omit<PostalCodes, 'places'> & { readonly places: readonly Place[] };

/** Postal codes as text: JSON has no `Map`. */
export const codec: Codec = {
  format: 'postal-codes/1',
  encode(value) {
    const { places, ...rest } = value as PostalCodes;
    return JSON.stringify({ ...rest, places: [...places.values()] });
  },
  decode(encoded) {
    const { places, ...rest } = JSON.parse(encoded as string) as Encoded;
    return { ...rest, places: new Map(places.map((place) => [place.zip, place])) } satisfies PostalCodes;
  },
};
