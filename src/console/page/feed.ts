import type { OverviewChanges } from '../changes.ts';
import type { Overview } from '../overview.ts';
import type { ShownEvent } from '../shown-event.ts';
import { ApiError, get, open, session } from './api.ts';
import { connection, receive, receiveEvents, tick } from './state.ts';

/** After as many failures in a row without an answer in between, the page asks instead of listening. */
const MOST_FAILURES = 3;

/** A stream without a message for this long is as good as none. In milliseconds. */
const SILENT_MS = 15_000;

/** In milliseconds. */
const POLL_MS = 3000;

/** Keeps the page up to date, by server-sent events, else by asking. A page that is hidden does neither. */
export function follow(onError: (message: string) => void): void {
  let source: EventSource | undefined;
  let failures = 0;
  let heardAt = performance.now();

  function listen(): void {
    source = new EventSource('api/live');
    heardAt = performance.now();
    const heard = <T>(type: string, use: (data: T) => void): void => {
      source?.addEventListener(type, (event) => {
        [failures, heardAt] = [0, performance.now()];
        connection.value = 'live';
        use(JSON.parse((event as MessageEvent<string>).data) as T);
      });
    };
    heard<OverviewChanges>('overview', receive);
    heard<readonly ShownEvent[]>('events', receiveEvents);
    source.onerror = () => failed();
  }

  function failed(): void {
    failures += 1;
    if (connection.value === 'live') connection.value = 'opening';
    if (failures < MOST_FAILURES && source?.readyState !== EventSource.CLOSED) return; // it connects again
    source?.close();
    source = undefined;
    void poll();
  }

  async function poll(): Promise<void> {
    try {
      if (session.value === undefined) await open();
      const { members, ...others } = await get<Overview>('overview');
      receive({ ...others, changed: members, order: members.map(({ id }) => id) });
      connection.value = 'polling';
    } catch (error) {
      connection.value = 'offline';
      if (error instanceof ApiError) onError(error.message);
    }
  }

  function turn(): void {
    tick();
    if (document.hidden) return;
    const silent = performance.now() - heardAt;
    if (source !== undefined && silent > SILENT_MS) {
      failures = MOST_FAILURES;
      failed();
    }
    if (source === undefined && silent > POLL_MS) {
      heardAt = performance.now();
      failures += 1;
      // Every tenth time it tries to listen again.
      if (failures % 10 === 0) listen();
      else void poll();
    }
  }

  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      source?.close();
      source = undefined;
    } else {
      failures = 0;
      listen();
    }
  });
  setInterval(turn, 1000);
  listen();
}
