import { setImmediate, setTimeout } from 'node:timers'; // never those of a test kit: threads live in real time
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { Assembly } from './assembly.ts';
import { type Carried, delivered } from './carried.ts';
import { endedBy, exited, failedAt, notAsked, notStarted } from './failures.ts';
import type { FromThread, Request, ToThread } from './protocol.ts';
import { threadCode } from './thread-code.ts';
import { flattened, revived } from './thrown.ts';

/** What a thread is started with. */
export interface ThreadPlan {
  readonly name: string;
  /** Of the constructor of `Worker`: what is missing has Node's defaults. */
  readonly settings: Pick<ConstructorParameters<typeof Worker>[1] & object, 'env' | 'resourceLimits'>;
  readonly request: Request;
  readonly signal: AbortSignal | undefined;
  /** The thread keeps the process alive. */
  readonly keepAlive: boolean;
}

type Outcome =
  | { readonly kind: 'answered'; readonly answer: unknown }
  | { readonly kind: 'failed'; readonly error: unknown };

/** After an abort a load has so long to tidy up, if it listens to its signal. */
const GRACE_MS = 100;

/** Runs one load in a thread of its own. Settles when the thread has ended, never before. */
export function runThread(plan: ThreadPlan): Promise<unknown> {
  return new Promise((resolve, reject) => {
    new Thread(plan, (outcome) => {
      if (outcome.kind === 'answered') resolve(outcome.answer);
      else reject(outcome.error);
    }).start();
  });
}

/**
 * A thread from its start to its end. The first of these decides, and what comes later is dropped: the answer, an error
 * of the load, the abort of the signal, an error that nothing caught, the end of the thread.
 *
 * The answer comes in parts, each of them asked for when the event loop has made a turn since the one before:
 *
 *  1. the thread sends a part, and waits;
 *  2. it is put in its place here, which takes about a millisecond;
 *  3. requests that came in meanwhile are served, then the next part is asked for.
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
    let failureOf = notAsked;
    try {
      this.#post(request); // waits there for the thread
      failureOf = notStarted;
      this.#worker = this.#startWorker();
    } catch (error) {
      this.#outcome = { kind: 'failed', error: failureOf(error) };
      this.#end();
      return;
    }
    this.#worker.on('error', (error) => {
      this.#receiveRest();
      this.#decide({ kind: 'failed', error: endedBy(error) });
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
    const workerData = this.#innerPort;
    return new Worker(threadCode, { eval: true, name, ...settings, workerData, transferList: [workerData] });
  }

  #post(message: ToThread): void {
    this.#port.postMessage(message);
  }

  #receive(message: FromThread): void {
    if (this.#outcome !== undefined) {
      this.#terminate(); // aborted, and the load has settled
      return;
    }
    switch (message.kind) {
      case 'end':
        this.#decide({ kind: 'answered', answer: delivered(this.#assembly.whole as Carried) });
        break;
      case 'failed': {
        const error = failedAt(message.step, revived(message.thrown), this.#plan.request.module);
        this.#decide({ kind: 'failed', error });
        break;
      }
      default:
        this.#assembly.add(message);
        setImmediate(() => this.#post({ kind: 'next' }));
    }
  }

  /** What the thread had sent before it ended: its answer, maybe. */
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
    this.#post({ kind: 'abort', reason: flattened(error) });
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

  /** A port is closed in a later turn of the event loop, or has been since the thread ended. */
  #settleIfOver(): void {
    if (this.#hasEnded && this.#isPortClosed) this.#settle(this.#outcome as Outcome);
  }
}
