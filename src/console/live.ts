import type { RefreshGroup, TicklessEvent } from '../index.ts';
import { SentRows } from './changes.ts';
import { EventStream } from './event-stream.ts';
import { hear } from './observed.ts';
import { namesOf, type Overview, type Overviews } from './overview.ts';
import { shownJson } from './redact.ts';
import { type ShownEvent, shownEvent } from './shown-event.ts';

/** How many events are kept while a page is open. */
const MOST_EVENTS = 1000;

/** How many events are sent at a time: of a burst the last ones. */
const MOST_SENT = 200;

/** An event is followed by what it has changed within this time, in milliseconds. */
const SOON_MS = 150;

/** A stream ends after this time; the page opens the next one, and is authorized anew. In milliseconds. */
const LONGEST_STREAM_MS = 5 * 60_000;

/** At most as many streams: of all operators, and of one. */
const MOST_STREAMS = 100;
const MOST_OF_ONE = 10;

/** An open page. */
interface Page {
  readonly by: string;
  readonly stream: EventStream;
  readonly sent: SentRows;
  /** By the monotonic clock. */
  readonly until: number;
  /** The number of the last event that was sent. */
  sentTo: number;
}

/**
 * Sends open pages all of the overview at first, then its changes. While none is open there is no listener and no timer.
 * A page that does not read what it was sent is sent nothing more until it does: the changes since then follow.
 */
export class Live {
  readonly #group: RefreshGroup;
  readonly #overviews: Overviews;
  readonly #everyMs: number;
  readonly #onTick: () => void;
  readonly #pages: Set<Page> = new Set();
  #events: ShownEvent[] = [];
  #count = 0;
  #stopHearing: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isTicking = false;
  #isSoon = false;

  /** @param onTick is called with each turn, while a page is open. */
  constructor(group: RefreshGroup, overviews: Overviews, everyMs: number, onTick: () => void = () => {}) {
    this.#group = group;
    this.#overviews = overviews;
    this.#everyMs = everyMs;
    this.#onTick = onTick;
  }

  /** A stream of server-sent events; `undefined`: there are too many. */
  open(by: string): ReadableStream<Uint8Array> | undefined {
    const own = [...this.#pages].filter((page) => page.by === by);
    if (this.#pages.size >= MOST_STREAMS || own.length >= MOST_OF_ONE) return undefined;
    const page: Page = {
      by,
      stream: new EventStream(() => this.#leave(page)),
      sent: new SentRows(),
      until: performance.now() + LONGEST_STREAM_MS,
      sentTo: this.#count,
    };
    this.#pages.add(page);
    this.#stopHearing ??= hear(this.#group, (event) => this.#heard(event));
    page.stream.send('retry: 1000\n\n');
    page.stream.send(message('events', this.#events.slice(-MOST_SENT)));
    this.#schedule(0);
    return page.stream.body;
  }

  /** The last events of a member, oldest first: those since a page was opened. */
  eventsOf(id: string): readonly ShownEvent[] {
    return this.#events.filter((event) => event.id === id);
  }

  /** Ends all streams. */
  close(): void {
    for (const { stream } of [...this.#pages]) stream.end();
  }

  #leave(page: Page): void {
    this.#pages.delete(page);
    if (this.#pages.size > 0) return;
    this.#stopHearing?.();
    this.#stopHearing = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#events = [];
  }

  #heard(event: TicklessEvent): void {
    this.#count += 1;
    this.#events.push(shownEvent(event, this.#count));
    if (this.#events.length > 2 * MOST_EVENTS) this.#events = this.#events.slice(-MOST_EVENTS);
    if (!this.#isSoon) this.#schedule(SOON_MS);
    this.#isSoon = true;
  }

  #schedule(ms: number): void {
    if (this.#isTicking) return;
    clearTimeout(this.#timer);
    // Pages whose turn fails open a stream again.
    this.#timer = setTimeout(() => void this.#tick().catch(() => this.close()), ms);
    (this.#timer as { unref?(): void }).unref?.();
  }

  async #tick(): Promise<void> {
    this.#isTicking = true;
    this.#isSoon = false;
    let overview: Overview;
    try {
      this.#onTick();
      overview = await this.#overviews.now();
    } finally {
      this.#isTicking = false;
    }
    if (this.#pages.size === 0) return;
    for (const page of [...this.#pages]) this.#sendTo(page, overview);
    this.#schedule(this.#isSoon ? SOON_MS : this.#everyMs);
  }

  #sendTo(page: Page, overview: Overview): void {
    const { stream, sent, until, sentTo } = page;
    if (performance.now() >= until) {
      stream.end();
      return;
    }
    if (!stream.isRead) return;
    stream.send(message('overview', sent.next(overview), namesOf(overview)));
    const events = this.#events.filter(({ number }) => number > sentTo).slice(-MOST_SENT);
    page.sentTo = this.#count;
    if (events.length > 0) stream.send(message('events', events));
  }
}

/** JSON has no line breaks. */
function message(event: string, data: unknown, shown?: ReadonlySet<string>): string {
  return `event: ${event}\ndata: ${shownJson(data, shown)}\n\n`;
}
