/** A page is sent at most as much at once, so that the rest of it shows whether the page reads. In bytes. */
const CHUNK = 64 * 1024;

/** A page that takes nothing of what waits for it for this long is not read. In milliseconds. */
const UNREAD_MS = 15_000;

/** The body of a response to which messages are added, while it is open. A page that does not read it loses it. */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #onEnd: () => void;
  /** `undefined`: it has ended. */
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly #waiting: Uint8Array[] = [];
  /** The page asks for more than there is. */
  #isAsking = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param onEnd is called once: it was ended, or its page was closed. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller as ReadableStreamDefaultController<Uint8Array>;
        },
        pull: () => this.#next(),
        cancel: () => void this.#over(),
      },
      { highWaterMark: 0 },
    );
  }

  /** The page has read what it was sent. */
  get isRead(): boolean {
    return this.#waiting.length === 0;
  }

  /** Without effect once it has ended. @param bytes may be sent to several pages: they are not copied. */
  send(bytes: Uint8Array): void {
    if (this.#controller === undefined) return;
    const wasRead = this.isRead;
    for (let at = 0; at < bytes.length; at += CHUNK) this.#waiting.push(bytes.subarray(at, at + CHUNK));
    if (this.#isAsking) this.#next();
    else if (wasRead) this.#watch();
  }

  /** Forgets the messages that wait for a page that does not read: they would be kept as long as the connection is. */
  end(): void {
    const { isRead } = this;
    const controller = this.#over();
    if (isRead) controller?.close();
    else controller?.error(new Error('the page does not read'));
  }

  /** The page asks for more. */
  #next(): void {
    const chunk = this.#waiting.shift();
    this.#isAsking = chunk === undefined;
    this.#watch();
    if (chunk !== undefined) this.#controller?.enqueue(chunk);
  }

  /** From now on, while something waits. */
  #watch(): void {
    clearTimeout(this.#timer);
    if (this.isRead) return;
    this.#timer = setTimeout(() => this.end(), UNREAD_MS);
    (this.#timer as { unref?(): void }).unref?.();
  }

  #over(): ReadableStreamDefaultController<Uint8Array> | undefined {
    const controller = this.#controller;
    this.#controller = undefined;
    this.#waiting.length = 0;
    clearTimeout(this.#timer);
    if (controller !== undefined) this.#onEnd();
    return controller;
  }
}
