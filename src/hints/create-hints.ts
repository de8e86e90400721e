import type {
  HintBus,
  HintHost,
  HintMember,
  HintPort,
  Hints,
  StopListening,
} from '../cluster/hint-contract.ts';
import { randomId } from '../cluster/identity.ts';
import { callUserCode } from '../observe/call-user-code.ts';
import { Outage } from '../observe/outage.ts';
import { OutageLog } from '../observe/outage-log.ts';
import { OptionChecks } from '../option-checks.ts';
import { withTimeout } from '../time/with-timeout.ts';
import { checkWithin, decodeHint, encodeHint } from './message.ts';

/** How long the number of instances is taken for granted: their reports may be long. */
const COUNT_EVERY_MS = 60_000;

/**
 * Where listening has ended, a check tries it again within this time, which doubles with each failure. After that many, checks
 * that are due anyway do.
 */
const LISTEN_AGAIN_MS = 5000;
const MOST_EARLY = 5;

/**
 * Makes hints of a way to send texts to all instances, for the option `hints` of stores: of NATS, MQTT, a process manager.
 *
 * A hint says that something has changed, and nothing else: an instance that gets one asks the store at its next read instead
 * of within `propagateWithin`. A hint that is lost, late, doubled or not ours changes nothing but that.
 *
 * @throws {TicklessError} `OPTION` when the object has no `send` or `listen`.
 */
export function createHints(bus: HintBus): Hints {
  const checks = new OptionChecks('hints');
  checks.methods('bus', bus, ['send', 'listen']);
  checks.done();
  return new BusHints(bus);
}

/** Listens once for all stores that use it, while one of them does. */
class BusHints implements Hints {
  readonly bus: HintBus;
  readonly outage: Outage = new Outage();
  readonly #listeners: Set<StoreHints> = new Set();
  #listening: Listening | undefined;
  /** How often in a row listening could not begin. */
  #failures = 0;
  /** The one before, until it has begun or failed: were it ended later, it would end its successor too. */
  #begun: Promise<void> = Promise.resolve();

  constructor(bus: HintBus) {
    this.bus = bus;
  }

  connect(host: HintHost): HintPort {
    return new StoreHints(this, host);
  }

  listen(port: StoreHints, member: HintMember): void {
    this.#listeners.add(port);
    if (this.#listening !== undefined) return;
    const listening: Listening = { stop: undefined };
    this.#listening = listening;
    this.#begun = this.#begun.then(() => this.#begin(listening, member));
  }

  stop(port: StoreHints): void {
    this.#listeners.delete(port);
    if (this.#listeners.size > 0) return;
    end(this.#listening?.stop);
    this.#listening = undefined;
  }

  logOf({ options: { logger, clock } }: HintMember): OutageLog {
    return new OutageLog(logger.as('hints'), clock, { recovered: 'available again' }, this.outage);
  }

  /** Never rejects. */
  async #begin(listening: Listening, member: HintMember): Promise<void> {
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

  failed(member: HintMember, cause: unknown): void {
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
class StoreHints implements HintPort {
  readonly #hints: BusHints;
  readonly #host: HintHost;
  readonly #id: string = randomId();
  #instances: number | undefined;
  #countedAt = -Infinity;
  #isSending = false;
  /** Something has changed since the hint under way. */
  #next: HintMember | undefined;

  constructor(hints: BusHints, host: HintHost) {
    this.#hints = hints;
    this.#host = host;
  }

  listen({ options: { clock, logger } }: HintMember): void {
    this.#hints.listen(this, { options: { clock, logger } }); // a listening keeps no member alive
  }

  stop(): void {
    this.#hints.stop(this);
  }

  received(text: string): void {
    const hint = decodeHint(text);
    if (hint !== undefined && hint.from !== this.#id) this.#host.checkWithin(checkWithin(hint));
  }

  /** A check listens again, and finds what was missed meanwhile. */
  listenAgain(withinMs: number): void {
    this.#host.checkWithin(withinMs);
  }

  /** One at a time, so that a hundred changes at once are two hints. */
  send(member: HintMember): void {
    if (this.#isSending) this.#next = member;
    else void this.#send(member);
  }

  async #send(member: HintMember): Promise<void> {
    const { clock } = member.options;
    this.#isSending = true;
    try {
      const text = encodeHint({ from: this.#id, instances: await this.#count(member) });
      await withTimeout(() => this.#hints.bus.send(text), this.#host.limitMs, clock);
      this.#hints.logOf(member).succeeded();
    } catch (error) {
      this.#hints.failed(member, error);
    }
    this.#isSending = false;
    const next = this.#next;
    this.#next = undefined;
    if (next !== undefined) this.send(next);
  }

  /** `undefined`: the store does not answer. */
  async #count(member: HintMember): Promise<number | undefined> {
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
