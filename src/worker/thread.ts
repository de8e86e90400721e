import { setImmediate, setTimeout } from 'node:timers'; // never those of a test kit: threads run in real time
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { Assembly } from '../chunks/assembly.ts';
import { decodeError, encodeError } from './error-codec.ts';
import { argumentsNotCloneable, crashed, exited, failedAt, startFailed, unreadable } from './failures.ts';
import type { FromThread, Handshake, Request, ToThread } from './protocol.ts';
import { decodeResult, type EncodedResult } from './result-codec.ts';
import { threadCode } from './thread-code.ts';

/** The settings of a thread, and its one load. */
export interface ThreadPlan {
  readonly name: string;
  /** Options of `Worker`; missing ones have Node's defaults. */
  readonly settings: Pick<ConstructorParameters<typeof Worker>[1] & object, 'env' | 'resourceLimits'>;
  readonly request: Request;
  readonly signal: AbortSignal | undefined;
  /** The thread keeps the process alive. */
  readonly keepAlive: boolean;
}

type Outcome =
  | { readonly kind: 'succeeded'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly error: unknown };

/** The time for a load to clean up after an abort, if it listens to its signal. */
const GRACE_MS = 100;

/** Runs one load in a thread of its own. Settles after the thread has ended, never before. */
export function runThread(plan: ThreadPlan): Promise<unknown> {
  return new Promise((resolve, reject) => {
    new Thread(plan, (outcome) => {
      if (outcome.kind === 'succeeded') resolve(outcome.result);
      else reject(outcome.error);
    }).start();
  });
}

/**
 * A thread from its start to its end. The first of these events decides the outcome, and later ones are dropped: the
 * result, an error of the load, the abort of the signal, an uncaught error, the exit of the thread.
 *
 * The result arrives in chunks, and the event loop makes a turn between two chunks:
 *
 *  1. the thread sends a chunk, and waits;
 *  2. the chunk is added to the assembly here, which takes about a millisecond;
 *  3. the event loop handles other events, such as requests; then the next chunk is requested.
 */
class Thread {
  readonly #plan: ThreadPlan;
  readonly #settle: (outcome: Outcome) => void;
  readonly #assembly: Assembly = new Assembly();
  readonly #port: MessagePort;
  readonly #innerPort: MessagePort;
  #worker: Worker | undefined;
  #grace: NodeJS.Timeout | undefined;
  #outcome: Outcome | undefined;
  #hasEnded = false;
  #isPortClosed = false;

  constructor(plan: ThreadPlan, settle: (outcome: Outcome) => void) {
    this.#plan = plan;
    this.#settle = settle;
    ({ port1: this.#port, port2: this.#innerPort } = new MessageChannel());
  }

  start(): void {
    this.#port.on('close', () => {
      this.#isPortClosed = true;
      this.#settleIfOver();
    });
    const { request, signal, keepAlive } = this.#plan;
    let failureOf = argumentsNotCloneable;
    try {
      this.#post(request); // waits in the port until the thread reads it
      failureOf = startFailed;
      this.#worker = this.#startWorker();
    } catch (error) {
      this.#outcome = { kind: 'failed', error: failureOf(error) };
      this.#end();
      return;
    }
    this.#worker.on('error', (error) => {
      this.#receiveRest();
      this.#decide({ kind: 'failed', error: crashed(error) });
    });
    this.#worker.on('exit', (code) => {
      this.#receiveRest();
      this.#outcome ??= { kind: 'failed', error: exited(code) };
      this.#end();
    });
    this.#port.on('message', (message: FromThread) => this.#receive(message));
    this.#port.on('messageerror', (error) => {
      this.#decide({ kind: 'failed', error: failedAt('clone', error, request.module) });
    });
    signal?.addEventListener('abort', this.#abort);
    if (keepAlive) return;
    this.#worker.unref();
    this.#port.unref();
  }

  #startWorker(): Worker {
    const { name, settings } = this.#plan;
    const worker = new Worker(threadCode, { eval: true, name, ...settings });
    const handshake: Handshake = { port: this.#innerPort };
    worker.postMessage(handshake, [handshake.port]); // not in `workerData`, which user code sees
    return worker;
  }

  #post(message: ToThread): void {
    this.#port.postMessage(message);
  }

  #receive(message: FromThread): void {
    if (this.#outcome !== undefined) {
      this.#terminate(); // after an abort: the load has settled
      return;
    }
    try {
      this.#handle(message);
    } catch (error) {
      this.#decide({ kind: 'failed', error: unreadable(error) });
    }
  }

  /** @throws for a message that is not one of the protocol: the module has got hold of the port. */
  #handle(message: FromThread): void {
    switch (message.kind) {
      case 'end':
        this.#decide({ kind: 'succeeded', result: decodeResult(this.#assembly.whole as EncodedResult) });
        break;
      case 'failed': {
        const error = failedAt(message.step, decodeError(message.error), this.#plan.request.module);
        this.#decide({ kind: 'failed', error });
        break;
      }
      case 'open':
      case 'fill':
      case 'close':
        this.#assembly.add(message);
        setImmediate(() => this.#post({ kind: 'next' }));
        break;
      default:
        throw new TypeError('the message is of an unknown kind');
    }
  }

  /** Reads the messages that the thread sent before it ended: its result may be among them. */
  #receiveRest(): void {
    for (let rest = receiveMessageOnPort(this.#port); rest; rest = receiveMessageOnPort(this.#port)) {
      this.#receive(rest.message);
    }
  }

  #decide(outcome: Outcome): void {
    this.#outcome ??= outcome;
    this.#terminate();
  }

  readonly #abort = (): void => {
    if (this.#outcome !== undefined) return;
    const error: unknown = this.#plan.signal?.reason;
    this.#outcome = { kind: 'failed', error };
    this.#post({ kind: 'abort', reason: encodeError(error) });
    this.#grace = setTimeout(() => this.#terminate(), GRACE_MS).unref();
  };

  #terminate(): void {
    void this.#worker?.terminate();
  }

  #end(): void {
    clearTimeout(this.#grace);
    this.#plan.signal?.removeEventListener('abort', this.#abort);
    this.#hasEnded = true;
    this.#port.close();
    this.#settleIfOver();
  }

  /** The port closes in a later turn of the event loop, or is closed since the end of the thread. */
  #settleIfOver(): void {
    if (this.#hasEnded && this.#isPortClosed) this.#settle(this.#outcome as Outcome);
  }
}
