import { AsyncLocalStorage } from 'node:async_hooks';
import { accessOf, type BackendAccess } from '../../../src/cluster/backend-access.ts';
import type { LockSteps, SnapshotChange } from '../../../src/cluster/backend-steps.ts';
import type { LeaseId, ReleaseOutcome } from '../../../src/cluster/lock-contract.ts';
import type { Signals } from '../../../src/cluster/signal-contract.ts';
import type { Store } from '../../../src/cluster/store-contract.ts';
import type { Cells, Change, Seen } from '../../../src/records/cells/cells.ts';
import { KnownClock } from '../../../src/records/cells/known-clock.ts';
import { SwappedRecords } from '../../../src/records/cells/swapped-records.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { REPORT, SNAPSHOT } from '../../../src/records/names.ts';
import type { Edit, Records } from '../../../src/records/records.ts';
import { cellOf } from '../../support/cell-layout.ts';
import { partsOn } from '../../support/parts.ts';
import type { Effect } from '../../support/record-effects.ts';
import type { Backend, Sender } from './backend.ts';
import type { Decision } from './lease-book.ts';
import type { Machine } from './machine.ts';
import {
  answerTo,
  editOf,
  isEffectOf,
  isWrite,
  type Message,
  messagesOf,
  type Step,
  type StepAnswer,
  wordsOfEffect,
} from './message.ts';
import type { Random } from './random.ts';
import type { Referee } from './referee.ts';
import type { Timeline } from './timeline.ts';

/** The quality of a connection: the longest delay of a message in milliseconds, and the rates of its faults. */
export interface Weather {
  readonly longestWay: number;
  readonly lostThere: number;
  readonly lostBack: number;
  /** Executed a second time, later. */
  readonly twice: number;
  /** A slow swap: its lease may have ended when it arrives. */
  readonly lateSwap: number;
  /** Refused at once: the message does not arrive. */
  readonly isCut: boolean;
  /** A command takes so much of the time that its sender waits for it, there and back: at least, and at most. */
  readonly takes?: readonly [number, number];
}

/** Qualities of connections, by name. */
export const WEATHER: Readonly<Record<'sound' | 'slow' | 'crowded' | 'lossy' | 'cut', Weather>> = {
  sound: { longestWay: 3, lostThere: 0, lostBack: 0, twice: 0, lateSwap: 0, isCut: false },
  slow: { longestWay: 400, lostThere: 0, lostBack: 0, twice: 0.2, lateSwap: 0.3, isCut: false },
  crowded: {
    longestWay: 3,
    lostThere: 0,
    lostBack: 0,
    twice: 0,
    lateSwap: 0,
    isCut: false,
    takes: [0.5, 1.05],
  },
  lossy: { longestWay: 20, lostThere: 0.2, lostBack: 0.2, twice: 0.3, lateSwap: 0.2, isCut: false },
  cut: { longestWay: 3, lostThere: 0, lostBack: 0, twice: 0, lateSwap: 0, isCut: true },
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
/** The rounding of the clock of the backend in its answers, and of sums. */
const ROUNDING_MS = 2;
const STEPS_BEHIND_READERS: readonly Step[] = ['extend', 'release', 'impose', 'write', 'confirm'];

/** The greatest delay of the second execution of a message, also after the end of its lease. */
const LATEST_TWIN_MS = 8000;

/** The greatest delay of a late swap, while its sender waits for the answer. */
const LATEST_SWAP_MS = 1400;

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
  /** Edits of several names are applied together, each name with a command of its own, as in a cluster of servers. */
  readonly isForManyNames?: boolean;
}

/** The texts of another version of the library, made of those of this one. */
export interface Dialect {
  snapshot(text: string): string;
  report(text: string): string;
}

/** The fault that a command met. */
type Failure = 'is lost' | 'is refused' | 'loses its answer' | 'is carried out twice';

/** A listener of a connection. */
export interface Wire {
  /** A step is asked for. Its commands follow. */
  sent(message: Message): void;
  /** A command leaves, for these steps. */
  commanded?(messages: readonly Message[]): void;
  /** A command for that step has met a fault. */
  failed(message: Message, how: Failure): void;
  /** A swap has done what the step asked for. */
  arrived(message: Message, effect: Effect): void;
  /** The machine is suspended between a decision and its swap. */
  dozes(ms: number): void;
  /** A swap has done what no step asked for. */
  strange(effect: Effect): void;
  /** The step has its answer. */
  answered?(message: Message, answer: StepAnswer | undefined): void;
}

/** A step that was asked for. */
interface Asked {
  readonly message: Message;
  /** By the clock of the machine. */
  readonly sentAt: number;
  /** In the time of the world. */
  readonly at: number;
}

/** The steps whose commands are being made. */
const underWay = new AsyncLocalStorage<readonly Message[]>();

/** The connection of one machine to the backend, with a lock and a store as of any backend on top. */
export class Link {
  weather: Weather = WEATHER.sound;
  /** The machine stands still for so many milliseconds when it sends its next swap, which leaves when it goes on. */
  dozesFor = 0;
  readonly lock: Lock;
  readonly store: Store;
  /** The steps without an answer. */
  readonly #asked: Set<Asked> = new Set();
  /** When ends of rounds and extensions were asked for that are not sent yet, in the time of the world, the first ones first. */
  readonly #waiting: Map<string, number[]> = new Map();
  #waitedMs = 0;
  readonly #machine: Machine;
  readonly #backend: Backend;
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #wire: Wire;
  readonly #waitsMs: number;
  readonly #clock: KnownClock;
  readonly #dialect: Dialect | undefined;
  readonly #isForManyNames: boolean;

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
    this.#dialect = dialect;
    this.#isForManyNames = isForManyNames;
    this.#clock = new KnownClock(() => machine.monotonic());
    const records = this.#noted(new SwappedRecords(this.#cells(), Infinity, this.#clock));
    const kind = { longestName: undefined, options: [], clock: machine };
    const options = { leaseFor, timeout: CLIENT_TIMEOUT_MS, keepVersions, ...(signals && { signals }) };
    ({ lock: this.lock, store: this.store } = partsOn(records, options, kind));
    this.#noteWaiting((accessOf<LockSteps>(this.lock) as BackendAccess<LockSteps>).steps);
  }

  /** A step is not answered, and may still be waited for. */
  get isAwaited(): boolean {
    return this.#isAwaited(Number.POSITIVE_INFINITY, () => LONGEST_STEP_MS);
  }

  /** A step that was asked for by then, in the time of the world, is not answered, and has not timed out. */
  awaitsOneOf(then: number): boolean {
    return this.#isAwaited(then, ({ step }) => (isWrite(step) ? LONGEST_WRITE_MS : LONGEST_WAIT_MS));
  }

  #isAwaited(then: number, limitMs: (message: Message) => number): boolean {
    const now = this.#machine.monotonic();
    for (const { message, sentAt, at } of this.#asked)
      if (at <= then && sentAt >= now - limitMs(message) - SLACK_MS) return true;
    return false;
  }

  /** How long a command takes in a crowd. One that no reader waits for may take longer. */
  #took(messages: readonly Message[], [least, most]: readonly [number, number]): number {
    const isBehind =
      messages.every(({ step }) => STEPS_BEHIND_READERS.includes(step)) && this.#random.chance(0.2);
    return (isBehind ? 3 * CLIENT_TIMEOUT_MS : this.#waitsMs) * this.#random.between(least, most);
  }

  /** How long the end of a round or the extension that is being sent has waited for its turn among the commands under way, in milliseconds. */
  get hasWaitedMs(): number {
    return this.#waitedMs;
  }

  #noteWaiting(steps: LockSteps): void {
    const { extend, release, settle } = steps;
    const note = (step: Step, { name, token }: LeaseId): void => {
      const key = `${step} ${name} ${token}`;
      this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), this.#timeline.now]);
    };
    Object.assign(steps, {
      extend: (lease: LeaseId, leaseFor: number) => {
        note('extend', lease);
        return extend.call(steps, lease, leaseFor);
      },
      release: (lease: LeaseId, outcome: ReleaseOutcome) => {
        note('release', lease);
        return release.call(steps, lease, outcome);
      },
      ...(settle && {
        settle: (lease: LeaseId, outcome: ReleaseOutcome, change: SnapshotChange) => {
          note(change.as, lease);
          note('release', lease);
          return settle.call(steps, lease, outcome, change);
        },
      }),
    } satisfies Partial<LockSteps>);
  }

  /** The same records, whose edits are noted as steps that are asked for. */
  #noted(records: SwappedRecords): Records {
    const ask = async <R>(messages: readonly Message[], apply: () => Promise<R>): Promise<R> => {
      const asked = messages.map((message) => this.#ask(message));
      try {
        return await underWay.run(messages, apply);
      } finally {
        for (const one of asked) this.#asked.delete(one);
      }
    };
    const about = { token: undefined, name: '', records: [] };
    return {
      mostEdits: records.mostEdits,
      sharesCommands: records.sharesCommands,
      apply: async (given) => {
        const edits = given.map((edit) => this.#inDialect(edit));
        const messages = messagesOf(edits);
        const decisionOf = this.#decided();
        const answer = await ask(messages, () => records.apply(edits));
        const decision = decisionOf();
        const isChange = ({ op, name }: Edit): boolean => op !== 'read' && !name.startsWith(REPORT);
        const cells = edits.filter(isChange).map(({ name }) => cellOf(name));
        const isTogether = (message: Message): boolean =>
          cells.filter((cell) => message.records.some((one) => cellOf(one) === cell)).length > 1;
        for (const message of messages) {
          const found = answer.answers[editOf(message, edits)];
          if (found instanceof Error) continue;
          const words = found && answerTo(message, found, answer.now);
          // Changes that are made together are refused together, whichever of them is the reason.
          // A claim that a pin stands against says nothing of the lock: the watch of pins judges that.
          const isPinned = found?.row?.pinnedFor !== undefined;
          const isJudged = found?.isDone === true || !(isPinned || isTogether(message));
          if (words !== undefined && isJudged) this.#backend.answered(message, words, decision);
          this.#wire.answered?.(message, words);
        }
        return answer;
      },
      list: (...args) => ask([{ ...about, step: 'reports' }], () => records.list(...args)),
      editions: (name, ...args) =>
        ask([{ ...about, step: 'history', name, records: [name] }], () => records.editions(name, ...args)),
    };
  }

  /** What is known here of the clock of the backend. */
  get decision(): Decision {
    const { now: at } = this.#backend;
    try {
      const { earliest, latest } = this.#clock.span();
      const isRight = at > earliest - ROUNDING_MS && at < latest + ROUNDING_MS;
      return { at, width: isRight ? latest - earliest : Infinity };
    } catch {
      return { at, width: Infinity };
    }
  }

  /** A decision that is made now. Later it is worth nothing if the clock was set since, or the data were lost. */
  #decided(): () => Decision {
    const { decision } = this;
    const backend = this.#backend;
    const { breaks } = backend;
    return () => (backend.breaks === breaks ? decision : { ...decision, width: Infinity });
  }

  #inDialect(edit: Edit): Edit {
    const dialect = this.#dialect;
    if (dialect === undefined || edit.op !== 'put') return edit;
    if (edit.name.startsWith(REPORT)) return { ...edit, text: dialect.report(edit.text) };
    return edit.name.startsWith(SNAPSHOT) ? { ...edit, text: dialect.snapshot(edit.text) } : edit;
  }

  #ask(message: Message): Asked {
    const { now } = this.#timeline;
    this.#waitedMs =
      now - (this.#waiting.get(`${message.step} ${message.name} ${message.token}`)?.shift() ?? now);
    this.#wire.sent(message);
    const asked = { message, sentAt: this.#machine.monotonic(), at: now };
    this.#asked.add(asked);
    return asked;
  }

  #cells(): Cells {
    const cells: Cells = {
      mostEdits: this.#isForManyNames ? 500 : 1,
      sharesCommands: true,
      swap: (changes) => (this.#isForManyNames ? this.#swapEach(changes) : this.#swap(changes)),
      long: (name, ids) => this.#send([name], false, () => this.#backend.long(name, ids)),
      list: (prefix) => this.#send([prefix], false, () => this.#backend.list(prefix)),
    };
    return cells;
  }

  #swap(changes: readonly Change[]): ReturnType<Cells['swap']> {
    const decisionOf = this.#decided();
    const messages = underWay.getStore() ?? [];
    const sender: Sender = {
      get decision() {
        return decisionOf();
      },
      askedFor: (effect) => {
        const found = messages.find((message) => isEffectOf(effect, message));
        if (found === undefined) this.#wire.strange(effect);
        return found;
      },
      did: (message, effect) => this.#wire.arrived(message, effect),
    };
    const backend = this.#backend;
    const names = changes.map(({ name }) => name);
    const isSwap = changes.some(({ swap }) => swap !== undefined);
    return this.#send(names, isSwap, () => backend.swap(changes, sender));
  }

  /** A report goes with the first of the others. */
  async #swapEach(changes: readonly Change[]): ReturnType<Cells['swap']> {
    const [first, ...others] = changes.filter(({ name }) => !name.startsWith(REPORT));
    if (first === undefined) return this.#swap(changes);
    const reports = changes.filter(({ name }) => name.startsWith(REPORT));
    const all = [[first, ...reports], ...others.map((change) => [change])];
    const found = await Promise.all(all.map((some) => this.#swap(some).catch((error: Error) => error)));
    const sound = found.find((one): one is Exclude<typeof one, Error> => !(one instanceof Error));
    if (sound === undefined) throw found[0];
    const answers = new Map<Change, Seen | Error>();
    for (const [i, some] of all.entries()) {
      const answer = found[i] as Awaited<ReturnType<Cells['swap']>> | Error;
      for (const [j, change] of some.entries())
        answers.set(change, answer instanceof Error ? answer : (answer.answers[j] as Seen | Error));
    }
    return { now: sound.now, answers: changes.map((change) => answers.get(change) as Seen | Error) };
  }

  /** Sends a command about cells. */
  async #send<R>(names: readonly string[], isSwap: boolean, carryOut: () => Promise<R>): Promise<R> {
    const messages = (underWay.getStore() ?? []).filter(({ records }) =>
      records.some((one) => names.includes(cellOf(one))),
    );
    this.#wire.commanded?.(messages);
    const doze = isSwap ? this.dozesFor : 0;
    if (doze > 0) await this.#doze(doze);
    const failed = (how: Failure): void => {
      for (const message of messages) this.#wire.failed(message, how);
    };
    const { weather } = this;
    const random = this.#random;
    return new Promise<R>((resolve, reject) => {
      const way = (): number => random.between(0.1, weather.longestWay);
      const refuse = (): void => {
        failed('is refused');
        const error = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
        this.#machine.receive(1, () => reject(error));
      };
      if (weather.isCut) return refuse();
      const isLostBack = random.chance(weather.lostBack);
      const took = weather.takes === undefined ? undefined : this.#took(messages, weather.takes);
      const wayBack = took === undefined ? way() : random.between(0, took);
      const arrive = (isFirst: boolean): void => {
        if (!this.#backend.isUp) {
          if (isFirst) refuse();
          return;
        }
        void carryOut().then((answer) => {
          if (isFirst && isLostBack) failed('loses its answer');
          if (!isFirst) failed('is carried out twice');
          if (isFirst && !isLostBack) this.#machine.receive(wayBack, () => resolve(answer));
        });
      };
      const isLate = isSwap && random.chance(weather.lateSwap);
      const usual = (): number => (took === undefined ? way() : took - wayBack);
      const wayThere = isLate ? random.between(200, LATEST_SWAP_MS) : usual();
      if (random.chance(weather.lostThere)) failed('is lost');
      else this.#timeline.plan(wayThere, () => arrive(true));
      if (random.chance(weather.twice)) {
        this.#timeline.plan(wayThere + random.between(1, LATEST_TWIN_MS), () => arrive(false));
      }
    });
  }

  /** The machine is suspended between a decision and its swap. */
  #doze(ms: number): Promise<void> {
    this.dozesFor = 0;
    this.#wire.dozes(ms);
    this.#machine.standStill();
    this.#timeline.plan(ms, () => this.#machine.goOn());
    return new Promise((resolve) => this.#machine.receive(0, resolve));
  }
}

/** A swap has done what no step of its instance asked for. */
export function strangeSwap(referee: Referee, name: string, effect: Effect): void {
  referee.holds('swaps', false, () => `${name}: ${wordsOfEffect(effect)}, which it was not asked for`);
}
