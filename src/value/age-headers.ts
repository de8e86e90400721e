import type { ValueStatus } from './value-status.ts';

/** The headers of a response that was made of a value. */
export type AgeHeaders = { readonly [name in 'Age' | 'Cache-Status']?: string };

/**
 * The headers that tell a client, and the caches between, how old a response is that was made of a value:
 *
 * - `Age` (RFC 9111): the age of the value in whole seconds. Not present while there is no value.
 * - `Cache-Status` (RFC 9211): `tickless; hit` with the seconds until the value is due for a reload (`ttl`, negative where it
 *   is due since); `detail=stale` where a stale value waits for the end of a cool-down; `tickless; fwd=miss` without a
 *   value. There is no `Warning`, which RFC 9111 has abolished.
 *
 * ```ts
 * import { ageHeaders, RefreshingValue } from 'tickless';
 *
 * const rates = new RefreshingValue({ name: 'rates', load: () => ({ USD: 1.08 }), schedule: { minutes: 10 } });
 * const body = JSON.stringify(rates.current);
 * const response = new Response(body, { headers: ageHeaders(rates.inspect()) });
 * console.log(response.headers.get('Age'), response.headers.get('Cache-Status')); // prints: 0 tickless; hit; ttl=600
 * ```
 *
 * @param status of a value or a key, taken with the read; `undefined`: of an unknown key. Never throws.
 */
export function ageHeaders(
  status: Pick<ValueStatus<unknown>, 'age' | 'loadedAt' | 'isStale' | 'nextExecuteTime'> | undefined,
): AgeHeaders {
  const { age, loadedAt, isStale, nextExecuteTime } = status ?? {};
  if (age === undefined || loadedAt === undefined) return { 'Cache-Status': 'tickless; fwd=miss' };
  const ttl = Math.round(((nextExecuteTime as number) - loadedAt - age) / 1000);
  const isKnown = Number.isFinite(ttl) && !(isStale && ttl > 0); // in a cool-down
  const details = isKnown ? `; ttl=${ttl + 0}` : isStale ? '; detail=stale' : '';
  return { Age: String(Math.max(0, Math.floor(age / 1000))), 'Cache-Status': `tickless; hit${details}` };
}
