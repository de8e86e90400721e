import { accessOf, type BackendAccess } from '../../../src/cluster/backend-access.ts';
import type { LockSteps } from '../../../src/cluster/backend-steps.ts';
import { confirmationIn } from '../../../src/cluster/confirmation.ts';
import type { LeaseId, ReleaseOutcome } from '../../../src/cluster/lock-contract.ts';
import { oneByOne } from '../../../src/cluster/one-by-one.ts';
import type { Signals } from '../../../src/cluster/signal-contract.ts';
import type { InstanceReport, SnapshotStore } from '../../../src/cluster/store-contract.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { lockOn, storeOn } from '../../support/parts.ts';
import { recordsOfLock, recordsOfStore, type StepsOfLock } from '../../support/records-of-steps.ts';
import type { Backend } from './backend.ts';
import type { Machine } from './machine.ts';
import type { Random } from './random.ts';
import type { Timeline } from './timeline.ts';

/** The quality of a connection: the longest delay of a message in milliseconds, and the rates of its faults. */
export interface Weather {
  readonly longestWay: number;
  readonly lostThere: number;
  readonly lostBack: number;
  /** Executed a second time, later. */
  readonly twice: number;
  /** A slow write: its lease may have ended when it arrives. */
  readonly lateWrite: number;
  /** Refused at once: the message does not arrive. */
  readonly isCut: boolean;
  /** A command takes so much of the time that its sender waits for it, there and back: at least, and at most. */
  readonly takes?: readonly [number, number];
}

/** Qualities of connections, by name. */
export const WEATHER: Readonly<Record<'sound' | 'slow' | 'crowded' | 'lossy' | 'cut', Weather>> = {
  sound: { longestWay: 3, lostThere: 0, lostBack: 0, twice: 0, lateWrite: 0, isCut: false },
  slow: { longestWay: 400, lostThere: 0, lostBack: 0, twice: 0.2, lateWrite: 0.3, isCut: false },
  crowded: {
    longestWay: 3,
    lostThere: 0,
    lostBack: 0,
    twice: 0,
    lateWrite: 0,
    isCut: false,
    takes: [0.5, 1.05],
  },
  lossy: { longestWay: 20, lostThere: 0.2, lostBack: 0.2, twice: 0.3, lateWrite: 0.2, isCut: false },
  cut: { longestWay: 3, lostThere: 0, lostBack: 0, twice: 0, lateWrite: 0, isCut: true },
};

/** The time-out of the clients of the backend; a write, an extension and a release may take three times as long. */
export const CLIENT_TIMEOUT_MS = 1500;
/** No step is waited for longer, whatever else a backend answers. */
const LONGEST_STEP_MS = 15_000;
/**
 * While a backend answers other steps, an acquire or a read is waited for during half of the deadline of a load, other steps
 * during three time-outs, and a write while its lease lasts.
 */
const LONGEST_WAIT_MS = 3 * CLIENT_TIMEOUT_MS;
const LONGEST_WRITE_MS = 6000;
/** The lateness of timers. */
const SLACK_MS = 10;
const STEPS_BEHIND_READERS: readonly Step[] = ['extend', 'release', 'write', 'confirm'];

/** The greatest delay of the second execution of a message, also after the end of its lease. */
const LATEST_TWIN_MS = 8000;

/** The greatest delay of a late write, while its sender waits for the answer. */
const LATEST_WRITE_MS = 1400;

/** It publishes a snapshot, or confirms one. */
export function isWrite(step: Step): boolean {
  return step === 'write' || step === 'confirm';
}

/** The commands to the backend. */
type Step =
  | 'acquire'
  | 'extend'
  | 'release'
  | 'read'
  | 'write'
  | 'confirm'
  | 'history'
  | 'versions'
  | 'reports';

/** A sent message. */
export interface Message {
  readonly step: Step;
  readonly name: string;
  readonly token: number | undefined;
  /** Of `acquire`. */
  readonly requestId?: string;
  /** Of `acquire`: it ignores holds. */
  readonly force?: boolean;
  /** Of `write`. */
  readonly payload?: string;
  /** Of `confirm`: the version. */
  readonly version?: number;
  /** The text of a report. */
  readonly report?: string;
  /** Of a report: the id of the instance. */
  readonly instance?: string;
  /** Of `release`. */
  readonly as?: 'done' | 'failed' | 'abandoned';
  /** Of `release`: how long the next round is held back, in milliseconds. */
  readonly holdFor?: number;
}

/** What one machine adds to its connection. */
export interface LinkOptions {
  /** @default 1 */
  readonly keepVersions?: number;
  /** How long a command is waited for that a reader waits for, in milliseconds. @default as long as the client waits */
  readonly waitsMs?: number;
  /** Writes snapshots and reports as another version of the library does. @default as this one */
  readonly dialect?: Dialect;
  /** Of the store. @default none */
  readonly signals?: Signals | undefined;
  /** Steps of its lock for several names are asked together, each name with a message of its own, as in a cluster of servers. */
  readonly isForManyNames?: boolean;
}

/** The texts of another version of the library, made of those of this one. */
export interface Dialect {
  snapshot(text: string): string;
  report(text: string): string;
}

/** A listener of a connection. */
export interface Wire {
  sent(message: Message): void;
  /** The fault that the message met. */
  failed(message: Message, how: 'is lost' | 'is refused' | 'loses its answer' | 'is carried out twice'): void;
  arrived(message: Message, answer: unknown): void;
  /** The answer has reached the machine. */
  answered?(message: Message, answer: unknown): void;
}

/** The connection of one machine to the backend, with adapters like the real ones on top. */
export class Link {
  weather: Weather = WEATHER.sound;
  readonly lock: Lock;
  readonly store: SnapshotStore;
  /** The send times of unanswered messages: by the clock of the machine, and that of the world. */
  readonly #unanswered: Map<Message, { readonly sentAt: number; readonly at: number }> = new Map();
  /** When extensions and releases were asked for that are not sent yet, in the time of the world, the first ones first. */
  readonly #asked: Map<string, number[]> = new Map();
  #waitedMs = 0;
  readonly #machine: Machine;
  readonly #backend: Backend;
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #wire: Wire;
  readonly #waitsMs: number;

  constructor(
    machine: Machine,
    backend: Backend,
    timeline: Timeline,
    random: Random,
    wire: Wire,
    leaseFor: number,
    {
      keepVersions = 1,
      waitsMs = CLIENT_TIMEOUT_MS,
      dialect,
      signals,
      isForManyNames = false,
    }: LinkOptions = {},
  ) {
    this.#machine = machine;
    this.#backend = backend;
    this.#timeline = timeline;
    this.#random = random;
    this.#wire = wire;
    this.#waitsMs = waitsMs;
    const asReported = (report: InstanceReport | undefined): InstanceReport | undefined =>
      report === undefined || dialect === undefined
        ? report
        : { ...report, text: dialect.report(report.text) };
    const kind = { longestName: undefined, options: [], clock: machine };
    const none = async (): Promise<never> => Promise.reject(new Error('not simulated'));
    const acquire: StepsOfLock['acquire'] = (request) =>
      this.#send({ step: 'acquire', token: undefined, ...request }, () => backend.acquire(request));
    const extend: StepsOfLock['extend'] = (lease, ms) =>
      this.#send({ step: 'extend', ...lease }, () => backend.extend(lease, ms));
    const release: StepsOfLock['release'] = (lease, ending) =>
      this.#send({ step: 'release', ...lease, as: ending.state, holdFor: ending.holdFor }, () =>
        backend.release(lease, ending),
      );
    const many: Partial<StepsOfLock> = {
      acquireMany: (requests) => oneByOne(requests, acquire),
      extendMany: (extensions) => oneByOne(extensions, ({ lease, leaseFor: ms }) => extend(lease, ms)),
      releaseMany: (ends) => oneByOne(ends, ({ lease, ending }) => release(lease, ending)),
    };
    this.lock = lockOn(
      recordsOfLock({
        ...{ acquire, extend, release, ...(isForManyNames && many) },
        ...{ find: none, list: none, forceRelease: none },
      }),
      { leaseFor, timeout: CLIENT_TIMEOUT_MS },
      kind,
    );
    this.#noteAsked((accessOf<LockSteps>(this.lock) as BackendAccess<LockSteps>).steps);
    this.store = storeOn(
      recordsOfStore({
        takesReports: true,
        read: (name, newerThan, version, given) => {
          const report = asReported(given);
          return this.#send({ step: 'read', name, token: version, ...reportIn(report) }, () =>
            backend.read(name, newerThan, version, report),
          );
        },
        write: (name, text, token, _rejected, _keepFor, given) => {
          const payload = dialect?.snapshot(text) ?? text;
          const report = asReported(given);
          return this.#send({ step: 'write', name, token, payload, ...reportIn(report) }, () =>
            backend.write(name, payload, token, report),
          );
        },
        confirm: (name, version, payload, given) => {
          const report = asReported(given);
          const token = confirmationIn(payload, version)?.round || undefined;
          return this.#send({ step: 'confirm', name, token, version, payload, ...reportIn(report) }, () =>
            backend.confirm(name, version, payload, report),
          );
        },
        history: async (name) => {
          const about = { step: 'history', name, token: undefined } as const;
          const found = await this.#send(about, () => backend.history(name));
          return found.map(({ beginning: payload, ...version }) => ({ ...version, payload }));
        },
        versions: (names, given) => {
          const report = asReported(given);
          const about = { step: 'versions', name: names.join(), token: undefined } as const;
          return this.#send({ ...about, ...reportIn(report) }, () => backend.versionsOf(names, report));
        },
        reports: (beginning) =>
          this.#send({ step: 'reports', name: '', token: undefined }, () => backend.reports(beginning)),
        delete: none,
      }),
      { timeout: CLIENT_TIMEOUT_MS, keepVersions, ...(signals && { signals }) },
      kind,
    );
  }

  /** A message is unanswered, and may still be waited for. */
  get isAwaited(): boolean {
    return this.#isAwaited(Number.POSITIVE_INFINITY, () => LONGEST_STEP_MS);
  }

  /** A message that was sent by then, in the time of the world, is unanswered, and has not timed out. */
  awaitsOneOf(then: number): boolean {
    return this.#isAwaited(then, ({ step }) => (isWrite(step) ? LONGEST_WRITE_MS : LONGEST_WAIT_MS));
  }

  #isAwaited(then: number, limitMs: (message: Message) => number): boolean {
    const now = this.#machine.monotonic();
    for (const [message, { sentAt, at }] of this.#unanswered) {
      if (sentAt < now - LONGEST_STEP_MS - SLACK_MS) this.#unanswered.delete(message);
      else if (at <= then && sentAt >= now - limitMs(message) - SLACK_MS) return true;
    }
    return false;
  }

  /** How long a command takes in a crowd. One that no reader waits for may take longer. */
  #took(step: Step, [least, most]: readonly [number, number]): number {
    const isBehind = STEPS_BEHIND_READERS.includes(step) && this.#random.chance(0.2);
    return (isBehind ? 3 * CLIENT_TIMEOUT_MS : this.#waitsMs) * this.#random.between(least, most);
  }

  /** How long the extension or the release that is being sent has waited for its turn among the commands under way, in milliseconds. */
  get hasWaitedMs(): number {
    return this.#waitedMs;
  }

  #noteAsked(steps: LockSteps): void {
    const { extend, release } = steps;
    const note = (step: Step, { name, token }: LeaseId): void => {
      const key = `${step} ${name} ${token}`;
      this.#asked.set(key, [...(this.#asked.get(key) ?? []), this.#timeline.now]);
    };
    Object.assign(steps, {
      extend: (lease: LeaseId, leaseFor: number) => {
        note('extend', lease);
        return extend(lease, leaseFor);
      },
      release: (lease: LeaseId, outcome: ReleaseOutcome) => {
        note('release', lease);
        return release(lease, outcome);
      },
    } satisfies Partial<LockSteps>);
  }

  async #send<R>(message: Message, carryOut: () => R | Promise<R>): Promise<R> {
    const { now } = this.#timeline;
    this.#waitedMs =
      now - (this.#asked.get(`${message.step} ${message.name} ${message.token}`)?.shift() ?? now);
    this.#wire.sent(message);
    const { weather } = this;
    const random = this.#random;
    this.#unanswered.set(message, { sentAt: this.#machine.monotonic(), at: this.#timeline.now });
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
      const took = weather.takes === undefined ? undefined : this.#took(message.step, weather.takes);
      const wayBack = took === undefined ? way() : random.between(0, took);
      const arrive = (isFirst: boolean): void => {
        if (!this.#backend.isUp) {
          if (isFirst) refuse();
          return;
        }
        void Promise.resolve(carryOut()).then((answer) => {
          this.#wire.arrived(message, answer);
          if (isFirst && isLostBack) this.#wire.failed(message, 'loses its answer');
          if (!isFirst) this.#wire.failed(message, 'is carried out twice');
          if (!isFirst || isLostBack) return;
          this.#machine.receive(wayBack, () => {
            this.#wire.answered?.(message, answer);
            answered(resolve)(answer);
          });
        });
      };
      const isLate = isWrite(message.step) && random.chance(weather.lateWrite);
      const usual = (): number => (took === undefined ? way() : took - wayBack);
      const wayThere = isLate ? random.between(200, LATEST_WRITE_MS) : usual();
      if (random.chance(weather.lostThere)) this.#wire.failed(message, 'is lost');
      else this.#timeline.plan(wayThere, () => arrive(true));
      if (random.chance(weather.twice)) {
        this.#timeline.plan(wayThere + random.between(1, LATEST_TWIN_MS), () => arrive(false));
      }
    });
  }
}

function reportIn(report: InstanceReport | undefined): Pick<Message, 'report' | 'instance'> {
  return report === undefined ? {} : { report: report.text, instance: report.instance };
}

/** The answer of the backend in a few words: the decisive fields of its rows and snapshots only. */
export function wordsOfAnswer(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null) return String(answer ?? 'nothing');
  const words = Object.entries(answer).map(([name, value]) => {
    const isNumber = typeof value === 'number' && !Number.isInteger(value);
    return TOLD.includes(name) ? `${name} ${isNumber ? value.toFixed(1) : value}` : '';
  });
  return words.filter((word) => word !== '').join(', ');
}

const TOLD = ['state', 'kind', 'token', 'leaseLeft', 'holdLeft', 'tookOver', 'version', 'age'];
