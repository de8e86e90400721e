import { randomId } from '../cluster/identity.ts';
import type {
  SignalBus,
  SignalHost,
  SignalMember,
  SignalPort,
  Signals,
  StopListening,
} from '../cluster/signal-contract.ts';
import { callUserCode } from '../observe/call-user-code.ts';
import { Outage } from '../observe/outage.ts';
import { OutageLog } from '../observe/outage-log.ts';
import { OptionChecks } from '../option-checks.ts';
import { methodOf } from '../plain-object.ts';
import { withTimeout } from '../time/with-timeout.ts';
import { checkWithin, decodeSignal, encodeSignal } from './message.ts';

/** How long the number of instances is taken for granted: their reports may be long. */
const COUNT_EVERY_MS = 60_000;

/**
 * Where listening has ended, a check tries it again within this time, which doubles with each failure. After that many, checks
 * that are due anyway do.
 */
const LISTEN_AGAIN_MS = 5000;
const MOST_EARLY = 5;

/**
 * Makes signals of a way to send texts to all instances, for the option `signals` of backends: of NATS, MQTT, a process manager.
 *
 * A signal says that something has changed, and nothing else: an instance that gets one asks the store at its next read instead
 * of within `propagateWithin`. A signal that is lost, late, doubled or not ours changes nothing but that.
 *
 * @throws {TicklessError} `OPTION` when the object has no `send` or `listen`.
 */
export function createSignals(bus: SignalBus): Signals {
  const checks = new OptionChecks('signals');
  checks.methods('bus', bus, ['send', 'listen']);
  checks.done();
  return new BusSignals(bus);
}

/** It is the result of {@link createSignals}, not a client. */
export function isSignals(thing: object): thing is Signals {
  return methodOf(thing as Signals, 'portOf') !== undefined;
}

/** Listens once for all stores that use it, while one of them does. */
class BusSignals implements Signals {
  readonly bus: SignalBus;
  readonly outage: Outage = new Outage();
  readonly #listeners: Set<StoreSignals> = new Set();
  #listening: Listening | undefined;
  /** How often in a row listening could not begin. */
  #failures = 0;
  /** The one before, until it has begun or failed: were it ended later, it would end its successor too. */
  #begun: Promise<void> = Promise.resolve();

  constructor(bus: SignalBus) {
    this.bus = bus;
  }

  portOf(host: SignalHost): SignalPort {
    return new StoreSignals(this, host);
  }

  listen(port: StoreSignals, member: SignalMember): void {
    this.#listeners.add(port);
    if (this.#listening !== undefined) return;
    const listening: Listening = { stop: undefined };
    this.#listening = listening;
    this.#begun = this.#begun.then(() => this.#begin(listening, member));
  }

  stop(port: StoreSignals): void {
    this.#listeners.delete(port);
    if (this.#listeners.size > 0) return;
    end(this.#listening?.stop);
    this.#listening = undefined;
  }

  logOf({ options: { logger, clock } }: SignalMember): OutageLog {
    return new OutageLog(logger.as('signals'), clock, { recovered: 'available again' }, this.outage);
  }

  /** Never rejects. */
  async #begin(listening: Listening, member: SignalMember): Promise<void> {
    const isOver = (): boolean => this.#listening !== listening;
    if (isOver()) return;
    const failed = (cause: unknown): void => {
      if (isOver()) return;
      this.#listening = undefined;
      const againMs = LISTEN_AGAIN_MS * 2 ** this.#failures;
      this.#failures += 1;
      if (this.#failures <= MOST_EARLY) for (const port of this.#listeners) port.listenAgain(againMs);
      this.failed(member, cause);
    };
    const received = (text: string): void => {
      if (!isOver()) for (const port of this.#listeners) port.received(text);
    };
    try {
      const stop = await this.bus.listen(received, (cause = new Error('the connection has ended')) =>
        failed(cause),
      );
      if (isOver()) return end(stop);
      listening.stop = stop;
      this.#failures = 0;
      this.logOf(member).succeeded();
    } catch (error) {
      failed(error);
    }
  }

  failed(member: SignalMember, cause: unknown): void {
    const retryAt = member.options.clock.monotonic();
    const text = (): string => 'unavailable, checks of the store find changes';
    this.logOf(member).failed({ retryAt, text, cause });
  }
}

/** One listening, by its identity. */
interface Listening {
  /** `undefined`: it has not begun yet. */
  stop: StopListening | undefined;
}

function end(stop: StopListening | undefined): void {
  if (stop !== undefined) callUserCode(stop, () => {});
}

/** Of one store object. */
class StoreSignals implements SignalPort {
  readonly #signals: BusSignals;
  readonly #host: SignalHost;
  readonly #id: string = randomId();
  #instances: number | undefined;
  #countedAt = -Infinity;
  #isSending = false;
  /** Something has changed since the signal under way. */
  #next: SignalMember | undefined;

  constructor(signals: BusSignals, host: SignalHost) {
    this.#signals = signals;
    this.#host = host;
  }

  listen({ options: { clock, logger } }: SignalMember): void {
    this.#signals.listen(this, { options: { clock, logger } }); // a listening keeps no member alive
  }

  stop(): void {
    this.#signals.stop(this);
  }

  received(text: string): void {
    const signal = decodeSignal(text);
    if (signal !== undefined && signal.from !== this.#id) this.#host.checkWithin(checkWithin(signal));
  }

  /** A check listens again, and finds what was missed meanwhile. */
  listenAgain(withinMs: number): void {
    this.#host.checkWithin(withinMs);
  }

  /** One at a time, so that a hundred changes at once are two signals. */
  send(member: SignalMember): void {
    if (this.#isSending) this.#next = member;
    else void this.#send(member);
  }

  async #send(member: SignalMember): Promise<void> {
    const { clock } = member.options;
    this.#isSending = true;
    try {
      const text = encodeSignal({ from: this.#id, instances: await this.#count(member) });
      await withTimeout(() => this.#signals.bus.send(text), this.#host.limitMs, clock);
      this.#signals.logOf(member).succeeded();
    } catch (error) {
      this.#signals.failed(member, error);
    }
    this.#isSending = false;
    const next = this.#next;
    this.#next = undefined;
    if (next !== undefined) this.send(next);
  }

  /** `undefined`: the store does not answer. */
  async #count(member: SignalMember): Promise<number | undefined> {
    const now = member.options.clock.monotonic();
    if (now - this.#countedAt < COUNT_EVERY_MS) return this.#instances;
    try {
      this.#instances = Math.max(1, await this.#host.countInstances(member));
      this.#countedAt = now;
    } catch {
      this.#instances = undefined;
    }
    return this.#instances;
  }
}
