import type { RefreshGroup, TicklessEvent } from '../index.ts';
import { Changes } from './changes.ts';
import { EventStream } from './event-stream.ts';
import { hear } from './observed.ts';
import type { Overview, Overviews } from './overview.ts';
import type { Redact } from './redact.ts';
import { HeardEvent, type ShownEvent } from './shown-event.ts';
import { nextTurn, type WatchTime } from './watch-time.ts';

/** How many events are kept while a page is open. */
const MOST_EVENTS = 1000;

/** How many events are sent at a time: of a burst the last ones. */
const MOST_SENT = 200;

/** How many events of one member are shown. */
const MOST_OF_MEMBER = 300;

/** An event is followed by what it has changed within this time, in milliseconds; with many pages within {@link PER_PAGE_MS} for each. */
const SOON_MS = 150;
const PER_PAGE_MS = 10;

/** A stream ends after this time; the page opens the next one, and is authorized anew. In milliseconds. */
const LONGEST_STREAM_MS = 5 * 60_000;

/** At most as many streams: of all operators, and of one. */
const MOST_STREAMS = 100;
const MOST_OF_ONE = 10;

/** How many streams are opened in one turn of the event loop. */
const OPENED_IN_TURN = 5;

/** How much is sent in one turn of the event loop; a message of a few bytes costs as much as {@link LEAST_SENT}. In bytes. */
const MOST_OF_TURN = 256 * 1024;
const LEAST_SENT = 16 * 1024;

/** An open page. */
interface Page {
  readonly by: string;
  readonly stream: EventStream;
  /** By the monotonic clock. */
  readonly until: number;
  /** The number of the last event that was sent. */
  sentTo: number;
  /** The revision of the rows that was sent last; `undefined`: none. */
  revision: number | undefined;
}

const encoder = new TextEncoder();

/**
 * Sends open pages all of the overview at first, then its changes. While none is open there is no listener and no timer.
 * All pages are sent the same, which does not contain the rights of their operators. Pages that have seen as much share a message.
 * A page that does not read what it was sent is sent nothing more until it does: the changes since then follow.
 */
export class Live {
  readonly #group: RefreshGroup;
  readonly #overviews: Overviews;
  readonly #time: WatchTime;
  readonly #everyMs: number;
  readonly #redact: Redact;
  readonly #onTick: () => void;
  readonly #pages: Set<Page> = new Set();
  #changes: Changes = new Changes();
  #events: HeardEvent[] = [];
  #count = 0;
  #stopHearing: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isTicking = false;
  #isSoon = false;
  #isClosed = false;
  #opened = 0;
  #turn: Promise<void> = Promise.resolve();

  /** @param onTick is called with each turn, while a page is open. */
  constructor(
    group: RefreshGroup,
    overviews: Overviews,
    time: WatchTime,
    everyMs: number,
    redact: Redact,
    onTick: () => void = () => {},
  ) {
    this.#group = group;
    this.#overviews = overviews;
    this.#time = time;
    this.#everyMs = everyMs;
    this.#redact = redact;
    this.#onTick = onTick;
  }

  /** A stream of server-sent events; `undefined`: there are too many, or this is closed. Many at once are opened one after the other. */
  async open(by: string): Promise<ReadableStream<Uint8Array> | undefined> {
    this.#opened += 1;
    if (this.#opened % OPENED_IN_TURN === 0) this.#turn = this.#turn.then(nextTurn);
    await this.#turn;
    if (this.#isClosed || !this.#hasRoom(by)) return undefined;
    const page: Page = {
      by,
      stream: new EventStream(() => this.#leave(page)),
      until: performance.now() + LONGEST_STREAM_MS,
      sentTo: this.#count - this.#events.length,
      revision: undefined,
    };
    this.#pages.add(page);
    this.#stopHearing ??= hear(this.#group, (event) => this.#heard(event));
    this.#schedule();
    return page.stream.body;
  }

  /** Each operator has a share of the streams: where all are in use, the one with the most loses one to an operator with fewer. */
  #hasRoom(by: string): boolean {
    const own = this.#pagesOf(by).length;
    if (own >= MOST_OF_ONE) return false;
    if (this.#pages.size < MOST_STREAMS) return true;
    const operators = new Set([...this.#pages].map((page) => page.by));
    const [most = []] = [...operators].map((one) => this.#pagesOf(one)).sort((a, b) => b.length - a.length);
    if (most.length <= own + 1) return false;
    (most.find(({ stream }) => !stream.isRead) ?? most[0])?.stream.end();
    return true;
  }

  #pagesOf(by: string): readonly Page[] {
    return [...this.#pages].filter((page) => page.by === by);
  }

  /** The last events of a member, oldest first: those since a page was opened. */
  eventsOf(name: string): readonly ShownEvent[] {
    const own = this.#events.filter((event) => event.name === name).slice(-MOST_OF_MEMBER);
    return own.map(({ shown }) => shown);
  }

  /** Ends all streams, for good. */
  close(): void {
    this.#isClosed = true;
    this.#endAll();
  }

  #endAll(): void {
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
    this.#changes = new Changes();
  }

  #heard(event: TicklessEvent): void {
    this.#count += 1;
    this.#events.push(new HeardEvent(event, this.#count, this.#redact));
    if (this.#events.length > 2 * MOST_EVENTS) this.#events = this.#events.slice(-MOST_EVENTS);
    if (this.#isSoon) return;
    this.#isSoon = true;
    this.#schedule();
  }

  /** The next turn: at once for a page that was sent nothing yet. */
  #schedule(): void {
    if (this.#isTicking || this.#pages.size === 0) return;
    clearTimeout(this.#timer);
    const isNew = [...this.#pages].some(({ revision }) => revision === undefined);
    const soonMs = Math.max(SOON_MS, PER_PAGE_MS * this.#pages.size);
    const pauseMs = Math.max(this.#isSoon ? soonMs : this.#everyMs, this.#time.waitMs);
    // Pages whose turn fails open a stream again.
    this.#timer = setTimeout(() => void this.#tick().catch(() => this.#endAll()), isNew ? 0 : pauseMs);
    (this.#timer as { unref?(): void }).unref?.();
  }

  async #tick(): Promise<void> {
    this.#isTicking = true;
    this.#isSoon = false;
    try {
      this.#onTick();
      await this.#send(await this.#overviews.now());
    } finally {
      this.#isTicking = false;
    }
    this.#schedule();
  }

  async #send(overview: Overview): Promise<void> {
    const changes = this.#changes;
    this.#time.turn(() => changes.take(overview.members));
    const count = this.#count;
    await this.#time.each(this.#eventsAfter(count - MOST_SENT), ({ text }) => text);
    const messages = new Map<string, Promise<Uint8Array>>();
    let sent = 0;
    for (const page of [...this.#pages]) {
      if (performance.now() >= page.until) page.stream.end();
      // Without pages it begins anew.
      if (!this.#pages.has(page) || !page.stream.isRead || changes !== this.#changes) continue;
      const key = `${page.revision} ${page.sentTo}`;
      const message = messages.get(key) ?? this.#message(overview, changes, page, count);
      messages.set(key, message);
      const bytes = await message;
      this.#time.turn(() => page.stream.send(bytes));
      page.revision = changes.revision;
      page.sentTo = count;
      sent += Math.max(bytes.length, LEAST_SENT);
      if (sent < MOST_OF_TURN) continue;
      sent = 0;
      await nextTurn();
    }
  }

  /** The changes of this overview that a page has not seen, and the events until a number. */
  async #message(
    overview: Overview,
    changes: Changes,
    { revision, sentTo }: Page,
    count: number,
  ): Promise<Uint8Array> {
    const { changed, order } = changes.since(revision ?? 0);
    const rows = await this.#overviews.rowTexts(overview, changed);
    return this.#time.turn(() => {
      const ordered = order === undefined ? '' : `,"order":${JSON.stringify(order)}`;
      const text = `${this.#overviews.headText(overview)},"changed":[${rows.join()}]${ordered}}`;
      const events = this.#eventsAfter(Math.max(sentTo, count - MOST_SENT));
      const heard = events.filter(({ number }) => number <= count).map((event) => event.text);
      const more = heard.length > 0 ? message('events', `[${heard.join()}]`) : '';
      const first = revision === undefined ? 'retry: 1000\n\n' : '';
      return encoder.encode(first + message('overview', text) + more);
    });
  }

  #eventsAfter(number: number): readonly HeardEvent[] {
    const first = this.#count - this.#events.length + 1; // the number of the first one that is kept
    return this.#events.slice(Math.max(0, number + 1 - first));
  }
}

/** JSON has no line breaks. */
function message(event: string, json: string): string {
  return `event: ${event}\ndata: ${json}\n\n`;
}
