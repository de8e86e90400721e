import { callUserCode } from '../observe/call-user-code.ts';

/** The used part of an emitter of events, as clients are. */
interface Emitter {
  listenerCount(event: 'error'): number;
}

const seen: WeakSet<object> = new WeakSet();

/**
 * Warns once about a client without an `error` listener: when its server goes, its next `error` event would end the process. It looks
 * when the caller's code has run, which may add the listener after this call. A client without events is left alone.
 *
 * @param line the line to add.
 */
export function warnWithoutErrorListener(client: object, line: string): void {
  if (typeof (client as Partial<Emitter>).listenerCount !== 'function' || seen.has(client)) return;
  seen.add(client);
  queueMicrotask(() => {
    callUserCode(
      () => {
        if ((client as Emitter).listenerCount('error') > 0) return;
        console.warn(
          `tickless: the client has no listener of its error event, so the process ends when its server goes. Add: ${line}`,
        );
      },
      () => {}, // a client that can't tell
    );
  });
}
