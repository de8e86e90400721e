/** A page that has more bytes than this waiting is sent nothing more until it has read them. */
const MOST_WAITING = 64 * 1024;

const encoder = new TextEncoder();

/** The body of a response to which messages are added, while it is open. */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #onEnd: () => void;
  /** `undefined`: it has ended. */
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  /** @param onEnd is called once: it was ended, or its page was closed. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller as ReadableStreamDefaultController<Uint8Array>;
        },
        cancel: () => void this.#over(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MOST_WAITING }),
    );
  }

  /** The page reads what it is sent. */
  get isRead(): boolean {
    return (this.#controller?.desiredSize ?? 0) > 0;
  }

  /** Without effect once it has ended. */
  send(text: string): void {
    this.#controller?.enqueue(encoder.encode(text));
  }

  /** Forgets the messages that wait for a page that does not read: they would be kept as long as the connection is. */
  end(): void {
    const controller = this.#over();
    if (controller === undefined) return;
    if ((controller.desiredSize ?? 0) < MOST_WAITING) controller.error(new Error('the page does not read'));
    else controller.close();
  }

  #over(): ReadableStreamDefaultController<Uint8Array> | undefined {
    const controller = this.#controller;
    this.#controller = undefined;
    if (controller !== undefined) this.#onEnd();
    return controller;
  }
}
