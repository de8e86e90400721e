// One instance of a service: a value that six of them share, and a reader that reads it every 10 ms. It does what its
// parent tells it, tells what it meets, and ends with its parent.

import { setTimeout as sleep } from 'node:timers/promises';
import { RefreshingValue } from '../../../../src/index.ts';
import { wordOf } from '../../../support/events.ts';
import { type Engine, openShared, type Shared } from './clients.ts';
import { type Behaviour, type Loaded, monotonic, type Order, type Settings } from './messages.ts';
import { tell, tellSteps } from './telling.ts';

const READ_EVERY_MS = 10;
const TELL_EVERY_MS = 500;
/** A read that is answered on the spot is so within that many turns of the microtask queue. */
const TURNS = 3;

class Instance {
  readonly #shared: Shared;
  readonly #value: RefreshingValue<Loaded>;
  #behaviour: Behaviour;
  #isOver = false;
  #seen: Loaded | undefined;
  #reads = 0;
  #longestWait = 0;
  #oldest = 0;
  #longestLag = 0;
  #toldAt = 0;

  constructor(engine: Engine, settings: Settings) {
    const { name, url, period, leaseFor, stepTimeout, coolDown, loadTimeout, whenBackendDown } = settings;
    this.#behaviour = settings.behaviour;
    this.#shared = openShared(engine, url, { leaseFor, stepTimeout });
    const { lock, store } = this.#shared;
    tellSteps(lock, store, () => this.#behaviour.writeHeldFor);
    this.#value = new RefreshingValue<Loaded>({
      name,
      load: ({ token = 0, signal }) => this.#load(token, signal),
      schedule: period,
      coolDown,
      timeout: loadTimeout,
      propagateWithin: { days: 1000 }, // what is counted are the commands of rounds
      backend: { lock, store },
      whenBackendDown,
      logger: false,
    });
    this.#value.on('*', (event) => {
      if (event.type === 'stale-served') return; // one for each read of a stale value
      const { token, version, error } = event as { token?: number; version?: number; error?: Error };
      tell({
        kind: 'event',
        type: wordOf(event),
        ...(token === undefined ? {} : { token }),
        ...(version === undefined ? {} : { version }),
        ...(error === undefined ? {} : { error: error.message }),
      });
    });
  }

  behave(behaviour: Partial<Behaviour>): void {
    this.#behaviour = { ...this.#behaviour, ...behaviour };
  }

  async #load(token: number, signal: AbortSignal): Promise<Loaded> {
    const [least, most] = this.#behaviour.loadFor;
    tell({ kind: 'load-started', token });
    try {
      await sleep(least + Math.random() * (most - least), undefined, { signal });
      if (this.#behaviour.load === 'hangs') await sleep(2 ** 30, undefined, { signal });
    } catch (error) {
      tell({ kind: 'load-ended', token, outcome: 'aborted' });
      throw error;
    }
    if (this.#behaviour.load === 'is deaf') await new Promise(() => {});
    const throws = this.#behaviour.load === 'throws';
    tell({ kind: 'load-ended', token, outcome: throws ? 'threw' : 'returned' });
    if (throws) throw new Error('the source fails');
    return { stamp: monotonic(), token };
  }

  /** Reads until {@link end}. */
  async run(): Promise<void> {
    const begunAt = monotonic();
    while (!this.#isOver) {
      try {
        await this.#value.get();
        break;
      } catch {
        await sleep(READ_EVERY_MS); // nothing to serve yet, and the source or the lock fails
      }
    }
    tell({ kind: 'began', after: monotonic() - begunAt });
    while (!this.#isOver) {
      try {
        this.#look(this.#reads++ % 2 === 0 ? this.#readAtOnce() : await this.#read());
      } catch (error) {
        tell({ kind: 'read-failed', what: String(error) });
      }
      if (monotonic() - this.#toldAt > TELL_EVERY_MS) this.#tellReading();
      const wakesAt = monotonic() + READ_EVERY_MS;
      await sleep(READ_EVERY_MS);
      this.#longestLag = Math.max(this.#longestLag, monotonic() - wakesAt);
    }
  }

  #readAtOnce(): Loaded {
    const clock = stopwatch();
    const value = this.#value.current;
    this.#longestWait = Math.max(this.#longestWait, clock.busy());
    return value;
  }

  async #read(): Promise<Loaded> {
    const clock = stopwatch();
    let isAnswered = false;
    const answer = this.#value.get().finally(() => {
      isAnswered = true;
    });
    answer.catch(() => {}); // whoever awaits it below
    for (let turn = 0; turn < TURNS && !isAnswered; turn++) await undefined;
    const wasAnswered = isAnswered;
    const busy = clock.busy();
    const value = await answer;
    const wait = wasAnswered ? busy : clock.elapsed();
    if (!wasAnswered) tell({ kind: 'read-waited', what: `${wait.toFixed(1)} ms` });
    this.#longestWait = Math.max(this.#longestWait, wait);
    return value;
  }

  /** Neither what the source said nor the token may go back. */
  #look(value: Loaded): void {
    const now = monotonic();
    this.#oldest = Math.max(this.#oldest, now - value.stamp);
    const seen = this.#seen;
    if (seen?.stamp === value.stamp) return;
    const { stamp, token } = value;
    if (seen !== undefined && (stamp < seen.stamp || (token > 0 && token < seen.token))) {
      const by = (seen.stamp - stamp).toFixed(1);
      tell({ kind: 'went-back', what: `from token ${seen.token} to ${token}, by ${by} ms` });
    }
    this.#seen = value;
    tell({ kind: 'saw', stamp, token });
  }

  #tellReading(): void {
    this.#toldAt = monotonic();
    const reading = {
      reads: this.#reads,
      longestWait: this.#longestWait,
      oldest: this.#oldest,
      longestLag: this.#longestLag,
    };
    this.#oldest = 0; // it is a maximum since the last time
    this.#longestLag = 0;
    tell({ kind: 'reading', reading });
  }

  async end(): Promise<void> {
    this.#isOver = true;
    this.#tellReading();
    await this.#value.close({ timeout: 0 });
    await Promise.race([this.#shared.close(), sleep(1000)]).catch(() => {});
  }
}

/** Time that passed, and what of it this process was at work: the rest, the machine had other things to do. */
function stopwatch(): { elapsed(): number; busy(): number } {
  const begunAt = monotonic();
  const cpu = process.cpuUsage();
  const elapsed = (): number => monotonic() - begunAt;
  return {
    elapsed,
    busy: () => {
      const { user, system } = process.cpuUsage(cpu);
      return Math.min(elapsed(), (user + system) / 1000);
    },
  };
}

let instance: Instance | undefined;
let running: Promise<void> | undefined;
const engine = JSON.parse(process.argv[2] as string) as Engine;

process.on('message', (order: Order) => {
  switch (order.kind) {
    case 'begin':
      instance = new Instance(engine, order.settings);
      running = instance.run();
      return;
    case 'behave':
      instance?.behave(order.behaviour);
      return;
    case 'end':
      void instance
        ?.end()
        .then(() => running)
        .then(() => tell({ kind: 'ended' }));
  }
});
process.on('disconnect', () => process.exit());
tell({ kind: 'ready', wall: Date.now() });
