import type { SnapshotStore } from '../../../src/index.ts';
import { createLock, type Lock } from '../../../src/lock/index.ts';
import { createStore } from '../../../src/store/index.ts';
import type { Engine } from './engine.ts';
import type { Machine } from './machine.ts';
import type { Random } from './random.ts';
import type { Timeline } from './timeline.ts';

/** How a connection is: the longest way of a message in milliseconds, and what becomes of messages how often. */
export interface Weather {
  readonly longestWay: number;
  readonly lostThere: number;
  readonly lostBack: number;
  /** Carried out a second time, later. */
  readonly twice: number;
  /** A write that takes its time: its lease may be over by then. */
  readonly lateWrite: number;
  /** Refused at once: nothing arrives. */
  readonly isCut: boolean;
}

/** Kinds of weather, by name. */
export const WEATHER: Readonly<Record<'sound' | 'slow' | 'lossy' | 'cut', Weather>> = {
  sound: { longestWay: 3, lostThere: 0, lostBack: 0, twice: 0, lateWrite: 0, isCut: false },
  slow: { longestWay: 400, lostThere: 0, lostBack: 0, twice: 0.2, lateWrite: 0.3, isCut: false },
  lossy: { longestWay: 20, lostThere: 0.2, lostBack: 0.2, twice: 0.3, lateWrite: 0.2, isCut: false },
  cut: { longestWay: 3, lostThere: 0, lostBack: 0, twice: 0, lateWrite: 0, isCut: true },
};

/** What the clients of the engine wait for an answer. */
const CLIENT_TIMEOUT_MS = 1500;

/** A message that is sent a second time comes at most so much later: also when its lease is long gone. */
const LATEST_TWIN_MS = 8000;

/** A write that is late arrives no later than that, while its sender waits for the answer. */
const LATEST_WRITE_MS = 1400;

/** What is asked of the engine. */
type Step = 'acquire' | 'extend' | 'release' | 'read' | 'write';

/** A message that was sent. */
export interface Message {
  readonly step: Step;
  readonly name: string;
  readonly token: number | undefined;
  /** Of `acquire`. */
  readonly requestId?: string;
  /** Of `write`. */
  readonly payload?: string;
  /** Of `release`. */
  readonly as?: 'done' | 'failed' | 'abandoned';
}

/** What listens to a connection. */
export interface Wire {
  sent(message: Message): void;
  /** What has become of it, if it is not what should. */
  failed(message: Message, how: 'is lost' | 'is refused' | 'loses its answer' | 'is carried out twice'): void;
  arrived(message: Message, answer: unknown): void;
}

/** The connection of one machine to the engine. Adapters as real ones are go over it. */
export class Link {
  weather: Weather = WEATHER.sound;
  readonly lock: Lock;
  readonly store: SnapshotStore;
  /** When those messages were sent that have no answer yet, by the clock of the machine. */
  readonly #unanswered: Map<Message, number> = new Map();
  readonly #machine: Machine;
  readonly #engine: Engine;
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #wire: Wire;

  constructor(
    machine: Machine,
    engine: Engine,
    timeline: Timeline,
    random: Random,
    wire: Wire,
    leaseFor: number,
  ) {
    this.#machine = machine;
    this.#engine = engine;
    this.#timeline = timeline;
    this.#random = random;
    this.#wire = wire;
    const kind = { longestName: undefined, options: [], clock: machine };
    const none = async (): Promise<never> => Promise.reject(new Error('not simulated'));
    this.lock = createLock(
      {
        acquire: (request) =>
          this.#send({ step: 'acquire', token: undefined, ...request }, () => engine.acquire(request)),
        extend: (lease, ms) => this.#send({ step: 'extend', ...lease }, () => engine.extend(lease, ms)),
        release: (lease, ending) =>
          this.#send({ step: 'release', ...lease, as: ending.state }, () => engine.release(lease, ending)),
        find: none,
        list: none,
        forceRelease: none,
      },
      { leaseFor, timeout: CLIENT_TIMEOUT_MS },
      kind,
    );
    this.store = createStore(
      {
        read: (name, newerThan) =>
          this.#send({ step: 'read', name, token: undefined }, () => engine.read(name, newerThan)),
        write: (name, payload, token) =>
          this.#send({ step: 'write', name, token, payload }, () => engine.write(name, payload, token)),
        delete: none,
      },
      { timeout: CLIENT_TIMEOUT_MS },
      kind,
    );
  }

  /** Somebody waits for an answer. */
  get isAwaited(): boolean {
    const since = this.#machine.monotonic() - CLIENT_TIMEOUT_MS - 10;
    for (const [message, sentAt] of this.#unanswered) {
      if (sentAt >= since) return true;
      this.#unanswered.delete(message);
    }
    return false;
  }

  async #send<R>(message: Message, carryOut: () => R | Promise<R>): Promise<R> {
    this.#wire.sent(message);
    const { weather } = this;
    const random = this.#random;
    this.#unanswered.set(message, this.#machine.monotonic());
    const answered = <A>(settle: (answer: A) => void): ((answer: A) => void) => {
      return (answer) => {
        this.#unanswered.delete(message);
        settle(answer);
      };
    };
    return new Promise<R>((resolve, reject) => {
      const way = (): number => random.between(0.1, weather.longestWay);
      const refuse = (): void => {
        this.#wire.failed(message, 'is refused');
        const error = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
        this.#machine.receive(1, () => answered(reject)(error));
      };
      if (weather.isCut) return refuse();
      const isLostBack = random.chance(weather.lostBack);
      const wayBack = way();
      const arrive = (isFirst: boolean): void => {
        if (!this.#engine.isUp) {
          if (isFirst) refuse();
          return;
        }
        void Promise.resolve(carryOut()).then((answer) => {
          this.#wire.arrived(message, answer);
          if (isFirst && isLostBack) this.#wire.failed(message, 'loses its answer');
          if (!isFirst) this.#wire.failed(message, 'is carried out twice');
          if (isFirst && !isLostBack) this.#machine.receive(wayBack, () => answered(resolve)(answer));
        });
      };
      const isLate = message.step === 'write' && random.chance(weather.lateWrite);
      const wayThere = isLate ? random.between(200, LATEST_WRITE_MS) : way();
      if (random.chance(weather.lostThere)) this.#wire.failed(message, 'is lost');
      else this.#timeline.plan(wayThere, () => arrive(true));
      if (random.chance(weather.twice)) {
        this.#timeline.plan(wayThere + random.between(1, LATEST_TWIN_MS), () => arrive(false));
      }
    });
  }
}

/** What the engine has answered, in few words: of its rows and snapshots only what decides. */
export function wordsOfAnswer(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null) return String(answer ?? 'nothing');
  const words = Object.entries(answer).map(([name, value]) => {
    const isNumber = typeof value === 'number' && !Number.isInteger(value);
    return TOLD.includes(name) ? `${name} ${isNumber ? value.toFixed(1) : value}` : '';
  });
  return words.filter((word) => word !== '').join(', ');
}

const TOLD = ['state', 'kind', 'token', 'leaseLeft', 'holdLeft', 'tookOver', 'version', 'age'];
