import type { Clock } from '../../../src/index.ts';
import type { Origin } from './origin.ts';
import type { RealWork } from './real-work.ts';

/** A server that is slow answers after this time. */
export const SLOW_MS = 8000;

export const HTTP_FAULTS = ['refused', '503', 'slow', 'silent', 'broken', 'cut', 'html', 'empty'] as const;

/** What `fetch` is called with. */
interface Init {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** A `fetch` for the servers of these origins, each under its name as host. They answer in virtual time. */
export function virtualFetch(origins: readonly Origin[], clock: Clock, work: RealWork) {
  return async (url: string, { headers, signal }: Init): Promise<Response> => {
    const origin = origins.find(({ name }) => name === new URL(url).hostname);
    if (origin === undefined) throw new TypeError(`no such host: ${url}`);
    const fault = origin.takeFault();
    if (fault === 'silent') await work.pause(signal, Infinity, clock);
    if (fault === 'refused')
      throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    const answer = answerOf(origin, fault, headers);
    if (fault === 'slow') await work.pause(signal, SLOW_MS, clock);
    return answer;
  };
}

function answerOf(origin: Origin, fault: string | undefined, asked: Init['headers']): Response {
  const etag = `"${origin.edition}"`;
  const text = JSON.stringify(fault === 'empty' ? { ...origin.content, items: [] } : origin.content);
  const headers = { etag, 'last-modified': new Date(origin.editedAt).toUTCString() };
  switch (fault) {
    case '503':
      return new Response(null, { status: 503, headers: { 'retry-after': '20' } });
    case 'broken':
      return new Response(text.slice(0, -5));
    case 'html':
      return new Response('<html>maintenance</html>');
    case 'cut':
      return new Response(cutStream(text));
    default: {
      const isHeld = new Headers(asked).get('if-none-match') === etag;
      if (isHeld && fault !== 'empty') return new Response(null, { status: 304, headers });
      return new Response(text, { headers: fault === 'empty' ? {} : headers });
    }
  }
}

function cutStream(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(text.slice(0, 20))),
    pull: (controller) => controller.error(new TypeError('terminated')),
  });
}
