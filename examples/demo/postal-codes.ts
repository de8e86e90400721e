import { keep, type LoadContext, RefreshingValue, type ValueOptions } from 'tickless';
import type { Place } from 'zipcodes';

/** The data set as the service holds it. */
export interface PostalCodes {
  readonly etag: string | null;
  readonly edition: number;
  readonly places: ReadonlyMap<string, Place>;
}

/** The origin answered, but not with the data. tickless finds `Retry-After` in the `headers`. */
class OriginError extends Error {
  readonly headers: Headers;

  constructor({ status, headers }: Response) {
    super(`the origin answered ${status}`);
    this.headers = headers;
  }
}

async function load(url: string, { signal, previous }: LoadContext<PostalCodes>) {
  const etag = previous?.value.etag;
  const response = await fetch(url, { signal, ...(etag ? { headers: { 'if-none-match': etag } } : {}) });
  if (response.status === 304) return keep();
  if (!response.ok) {
    await response.body?.cancel();
    throw new OriginError(response);
  }
  const { edition, places } = (await response.json()) as { edition: number; places: Place[] };
  return {
    etag: response.headers.get('etag'),
    edition,
    places: new Map(places.map((place) => [place.zip, place])),
  };
}

/** What differs between the services of the demo. */
type Options = Pick<
  ValueOptions<PostalCodes>,
  'group' | 'required' | 'schedule' | 'timeout' | 'backend' | 'propagateWithin' | 'accept'
>;

/** The postal codes, kept fresh from the origin. In production the durations would be minutes. */
export function postalCodesFrom(url: string, options: Options): RefreshingValue<PostalCodes> {
  return new RefreshingValue({
    logger: false, // lines would get between those of the live view, which shows the failures
    name: 'postal-codes',
    load: (context: LoadContext<PostalCodes>) => load(url, context),
    ...options,
    retry: { retries: 1, minTimeout: 100 },
    coolDown: { initial: 300, factor: 2, max: 1000 },
  });
}
