import type { RefreshGroup, TicklessEvent } from '../index.ts';
import { type OverviewChanges, SentRows } from './changes.ts';
import { hear } from './observed.ts';
import type { Overviews } from './overview.ts';
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

/** A page that does not read has at most as many bytes waiting for it; then its stream ends. */
const MOST_WAITING = 32 * 1024 * 1024;

/** At most as many streams: of all operators, and of one. */
const MOST_STREAMS = 100;
const MOST_OF_ONE = 10;

const encoder = new TextEncoder();

interface Stream {
  readonly by: string;
  readonly sent: SentRows;
  readonly until: number;
  send(text: string): void;
  end(): void;
}

/**
 * Sends open pages all of the overview at first, then its changes. While none is open there is no listener and no timer.
 */
export class Live {
  readonly #group: RefreshGroup;
  readonly #overviews: Overviews;
  readonly #everyMs: number;
  readonly #onTick: () => void;
  readonly #streams: Set<Stream> = new Set();
  #events: ShownEvent[] = [];
  #count = 0;
  /** The number of the first event that was not sent. */
  #unsentFrom = 1;
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
    const own = [...this.#streams].filter((stream) => stream.by === by);
    if (this.#streams.size >= MOST_STREAMS || own.length >= MOST_OF_ONE) return undefined;
    let stream: Stream | undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          stream = this.#join(by, controller);
        },
        cancel: () => stream && this.#leave(stream),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MOST_WAITING }),
    );
  }

  /** The last events of a member, oldest first: those since a page was opened. */
  eventsOf(id: string): readonly ShownEvent[] {
    return this.#events.filter((event) => event.id === id);
  }

  /** Ends all streams. */
  close(): void {
    for (const stream of [...this.#streams]) stream.end();
  }

  #join(by: string, controller: ReadableStreamDefaultController<Uint8Array>): Stream {
    const stream: Stream = {
      by,
      sent: new SentRows(),
      until: performance.now() + LONGEST_STREAM_MS,
      send: (text) => {
        controller.enqueue(encoder.encode(text));
        if ((controller.desiredSize ?? 0) <= 0) stream.end();
      },
      end: () => {
        this.#leave(stream);
        try {
          controller.close();
        } catch {} // it was cancelled
      },
    };
    this.#streams.add(stream);
    this.#stopHearing ??= hear(this.#group, (event) => this.#heard(event));
    stream.send('retry: 1000\n\n');
    stream.send(message('events', this.#events.slice(-MOST_SENT)));
    this.#schedule(0);
    return stream;
  }

  #leave(stream: Stream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    this.#stopHearing?.();
    this.#stopHearing = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#events = [];
    this.#unsentFrom = this.#count + 1;
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
    this.#timer = setTimeout(() => void this.#tick(), ms);
    (this.#timer as { unref?(): void }).unref?.();
  }

  async #tick(): Promise<void> {
    this.#isTicking = true;
    this.#isSoon = false;
    this.#onTick();
    const overview = await this.#overviews.now();
    this.#isTicking = false;
    if (this.#streams.size === 0) return;
    const events = this.#events.filter(({ number }) => number >= this.#unsentFrom).slice(-MOST_SENT);
    this.#unsentFrom = this.#count + 1;
    for (const stream of [...this.#streams]) this.#sendTo(stream, stream.sent.next(overview), events);
    this.#schedule(this.#isSoon ? SOON_MS : this.#everyMs);
  }

  #sendTo(stream: Stream, changes: OverviewChanges, events: readonly ShownEvent[]): void {
    if (performance.now() >= stream.until) {
      stream.end();
      return;
    }
    stream.send(message('overview', changes));
    if (events.length > 0) stream.send(message('events', events));
  }
}

/** JSON has no line breaks. */
function message(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${shownJson(data)}\n\n`;
}
