import { checkStart, executionRecord } from '../data/execution-record.ts';
import type { VersionRecord } from '../data/version-record.ts';
import { deadlineOf, type Entry } from '../engine/entry.ts';
import { isTicklessError, TicklessError } from '../errors.ts';
import { messageOf } from '../observe/logger.ts';
import type { BackendAccess, BackendReply } from './backend-access.ts';
import { type BackendPatience, PATIENT, readSilenceMs, stepLimits } from './backend-patience.ts';
import type { StoreSteps } from './backend-steps.ts';
import { clusterStateOf } from './cluster-state.ts';
import { type Confirmation, confirmationIn } from './confirmation.ts';
import { countedSteps } from './counted-steps.ts';
import { UndecodableError, withDamage } from './damage.ts';
import type { MemberContext } from './member-context.ts';
import { OutageEvents } from './outage-events.ts';
import { CLOCK_BACK_MS } from './plausible.ts';
import { type SliceBudget, sliceBudgetOf } from './slice-budget.ts';
import { decodeSnapshot, type Snapshot } from './snapshot.ts';
import { SnapshotWriter } from './snapshot-writer.ts';
import type { Codec, StoredSnapshot } from './store-contract.ts';
import { unavailable, unavailableCause } from './unavailable.ts';

/** A snapshot from the store. */
export interface ReadSnapshot extends Snapshot {
  readonly version: number;
  /** When it was written (monotonic), or a little before. */
  readonly writtenAt: number;
  /** The same, or a little after. */
  readonly writtenBy: number;
  /** When it was loaded (monotonic), or a little before. */
  readonly loadedAt: number;
  /** The token of the last round with this result: its version, or that of a round which has confirmed it. */
  readonly round: number;
  /** It is the value in place, which was confirmed: nothing was read. */
  readonly isKept: boolean;
}

/** A snapshot as the store has it. `decoded` rejects with the reason why it can't be used. */
interface VersionAtStore {
  readonly version: number;
  readonly decoded: () => Promise<ReadSnapshot>;
}

/** A version that the store has; `undefined`: its snapshot can't be used, which was reported. */
export interface FoundVersion {
  readonly version: number;
  readonly snapshot: ReadSnapshot | undefined;
}

/** The result of a write in the place of a version. */
type Replaced =
  | { readonly kind: 'written'; readonly version: number }
  | { readonly kind: 'refused'; readonly present: FoundVersion | undefined };

/** The store as one member uses it: reads it, and reports what happens. Its {@link writer} writes to it. */
export class MemberStore {
  readonly writer: SnapshotWriter;
  readonly #context: MemberContext;
  readonly #access: BackendAccess<StoreSteps>;
  /** Of its snapshots. */
  readonly #codec: Codec;
  /** The commands of this member. */
  readonly #steps: Pick<StoreSteps, 'read' | 'change' | 'replace' | 'history'>;
  readonly #outages: OutageEvents;

  /** @param codec of its snapshots. @default that of the store */
  constructor(context: MemberContext, access: BackendAccess<StoreSteps>, codec?: Codec) {
    this.#context = context;
    this.#access = access;
    this.#codec = codec ?? access.steps.codec;
    const { events, options } = context;
    const count = (): void => {
      events.counters.storeCommands += 1;
    };
    this.#steps = countedSteps(access.steps, ['read', 'change', 'replace', 'history'], count);
    this.#outages = new OutageEvents('store', events, (cause) => unavailable(cause, options.name));
    this.writer = new SnapshotWriter(context, access, this.#steps, this.#codec, () => this.noteOutage());
  }

  /** It keeps earlier versions: people may pin one. */
  get keepsVersions(): boolean {
    return (this.#access.steps.keepVersions ?? 1) > 1;
  }

  /** The longest name that it accepts, in bytes of UTF-8. */
  get longestName(): number | undefined {
    return this.#access.steps.longestName;
  }

  /** Why it could not be written or read the last time. */
  get error(): TicklessError | undefined {
    const { isTripped, cause = this.writer.error } = this.#access.breaker;
    return isTripped || cause !== undefined ? unavailable(cause, this.#context.options.name) : undefined;
  }

  /** How long it is not asked, in milliseconds, because it did not answer; 0: it is asked. */
  get notAskedFor(): number {
    return this.#access.breaker.openFor(this.#context.options.clock.monotonic());
  }

  /** Emits what has changed: the store does not answer, or does again. */
  noteOutage(): void {
    this.#outages.note(this.#access.breaker.outage);
  }

  /**
   * Reads the snapshot of an entry, if there is one that is newer and can be used. Never rejects: failures are reported.
   * `unread`: the store did not answer, or was not asked.
   */
  async read(
    entry: Entry<unknown>,
    newerThan: number,
    patience: BackendPatience,
  ): Promise<ReadSnapshot | 'unread' | undefined> {
    const { steps, limitMs, answers } = this.#access;
    const { options, names, log } = this.#context;
    const { clock, timeoutMs } = options;
    const silenceMs = readSilenceMs(limitMs, patience);
    let sentAt = 0;
    try {
      const name = await names.atBackend(entry, steps.longestName);
      const step = (): ReturnType<StoreSteps['read']> => {
        sentAt = clock.monotonic();
        const limits = stepLimits(silenceMs, { timeoutMs, leftMs: deadlineOf(entry) - sentAt });
        const read = (): ReturnType<StoreSteps['read']> =>
          this.#steps.read(name, newerThan > 0 ? newerThan : undefined);
        return answers.wait(read, clock, { ...limits, step: 'read' });
      };
      const asked = await this.#access.ask(step, clock, patience);
      if (asked.kind === 'open') {
        void asked.probe?.then(
          (probed) => this.#noteRead(probed),
          () => {},
        );
      }
      this.#noteRead(asked);
      if (asked.kind !== 'answered') return 'unread';
      return await this.newerOf(entry, asked.answer, newerThan, sentAt, silenceMs);
    } catch (error) {
      log.unreadable(entry, unavailableCause(error)); // the key has no name, or one that the store does not accept
      return 'unread';
    }
  }

  /**
   * The snapshot that was found, if it is newer and can be used. Never rejects: failures are reported.
   *
   * @param sentAt when it was asked for (monotonic).
   */
  async newerOf(
    entry: Entry<unknown>,
    found: StoredSnapshot | undefined,
    newerThan: number,
    sentAt: number,
    silenceMs: number = this.#access.limitMs,
  ): Promise<ReadSnapshot | undefined> {
    if (found === undefined) return undefined;
    const { clock, timeoutMs } = this.#context.options;
    const stored = withDamage(found);
    const { version, damage } = stored;
    if (damage === undefined && version <= newerThan) return undefined;
    try {
      return await this.#decoded(entry, stored, sentAt, sliceBudgetOf(clock, timeoutMs, silenceMs));
    } catch (error) {
      this.#rejected(entry, version, error as Error);
      return undefined;
    }
  }

  /** A change of a person. @param name of the entry at the backend. */
  change(...asked: Parameters<StoreSteps['change']>): ReturnType<StoreSteps['change']> {
    return this.#steps.change(...asked);
  }

  /** The versions of an entry that the store has, newest first. Rejects with `BACKEND_DOWN`. */
  history(entry: Entry<unknown>): Promise<readonly VersionRecord[]> {
    return this.#demand(entry, (name) => this.#steps.history(name));
  }

  /**
   * One of the versions that the store has; `undefined`: it has not. Rejects with `BACKEND_DOWN`, also where the
   * version can't be read.
   */
  async edition(entry: Entry<unknown>, version: number): Promise<ReadSnapshot | undefined> {
    const found = await this.#stored(entry, version);
    if (found?.version !== version) return undefined;
    try {
      return await found.decoded();
    } catch (cause) {
      const text = `version ${version} can't be read: ${messageOf(cause)}`;
      const about = { member: this.#context.options.name, key: entry.key, cause };
      throw new TicklessError('BACKEND_DOWN', text, about);
    }
  }

  /**
   * The version that the store has now; `undefined`: there is none. Rejects with `BACKEND_DOWN` when the store does not answer.
   *
   * @param waits for a probe of a store that was down.
   */
  async present(entry: Entry<unknown>, waits: boolean): Promise<FoundVersion | undefined> {
    const patience = { waitsForProbe: waits, limitMs: this.#access.limitMs };
    return this.#found(entry, await this.#stored(entry, undefined, patience));
  }

  /**
   * Writes a value in the place of a version; 0: where there is none. `refused`: another one is there. Rejects with `BACKEND_DOWN`
   * when the store can't be written.
   */
  async replace(entry: Entry<unknown>, value: unknown, version: number): Promise<Replaced> {
    const { clock, name } = this.#context.options;
    const sentAt = clock.monotonic();
    try {
      const answer = await this.writer.replace(entry, value, version);
      if (answer === undefined) throw this.#access.breaker.cause;
      if (answer.kind === 'written') return answer;
      const present = answer.present && this.#versionAt(entry, answer.present, sentAt);
      return { kind: 'refused', present: await this.#found(entry, present) };
    } catch (cause) {
      throw isTicklessError(cause, 'OPTION') ? cause : unavailable(cause, name);
    }
  }

  async #found(entry: Entry<unknown>, found: VersionAtStore | undefined): Promise<FoundVersion | undefined> {
    if (found === undefined) return undefined;
    const { version } = found;
    try {
      return { version, snapshot: await found.decoded() };
    } catch (error) {
      this.#rejected(entry, version, error as Error);
      return { version, snapshot: undefined };
    }
  }

  /** Rejects with the reason why it can't be used. @param sentAt when it was asked for (monotonic). */
  async #decoded(
    entry: Entry<unknown>,
    { version, age, payload, damage, confirmation }: StoredSnapshot,
    sentAt: number,
    budget: SliceBudget,
  ): Promise<ReadSnapshot> {
    const { options, names } = this.#context;
    const { kind, schema } = options;
    const codec = this.#codec;
    const answeredAt = options.clock.monotonic();
    if (damage !== undefined) throw new UndecodableError(damage);
    const checks = { codec, schema };
    const snapshot = await decodeSnapshot(payload, checks, names.makerOf(entry), budget);
    const hasNone = snapshot.value === undefined && snapshot.mark === undefined;
    const isOdd = snapshot.isAbsent ? kind !== 'key' : hasNone;
    if (isOdd) throw new Error('it has no value');
    const about = { version, round: version, isKept: false };
    const confirmed = confirmedAgo(confirmation, version);
    if (confirmed !== undefined) {
      const { ago, ...times } = confirmed;
      const writtenAt = sentAt - ago;
      const writtenBy = answeredAt - ago;
      const pinned = undefined; // only once the pin was over
      return {
        ...snapshot,
        pinned,
        ...about,
        ...times,
        writtenAt,
        writtenBy,
        loadedAt: writtenAt - times.age,
      };
    }
    const writtenAt = sentAt - Math.max(0, age);
    const writtenBy = answeredAt - Math.max(0, age);
    return { ...snapshot, ...about, writtenAt, writtenBy, loadedAt: writtenAt - snapshot.age };
  }

  /** A snapshot that is not read for a round; `undefined`: there is none. Rejects as {@link #demand} does. */
  async #stored(
    entry: Entry<unknown>,
    version: number | undefined,
    patience?: BackendPatience,
  ): Promise<VersionAtStore | undefined> {
    const sentAt = this.#context.options.clock.monotonic();
    const stored = await this.#demand(entry, (name) => this.#steps.read(name, undefined, version), patience);
    return stored && this.#versionAt(entry, stored, sentAt);
  }

  /** @param sentAt when it was asked for (monotonic). */
  #versionAt(entry: Entry<unknown>, stored: StoredSnapshot, sentAt: number): VersionAtStore {
    const { clock, timeoutMs } = this.#context.options;
    const budget = sliceBudgetOf(clock, timeoutMs);
    return { ...stored, decoded: () => this.#decoded(entry, withDamage(stored), sentAt, budget) };
  }

  /** Asks the store outside of rounds: for a person, or for the invalidation log of keys. Rejects when it does not answer. */
  async #demand<R>(
    entry: Entry<unknown>,
    call: (name: string) => Promise<R>,
    patience: BackendPatience = PATIENT,
  ): Promise<R> {
    const { steps, answers } = this.#access;
    const { clock, name, timeoutMs } = this.#context.options;
    const atBackend = await this.#context.names.atBackend(entry, steps.longestName);
    const { limitMs = this.#access.backgroundTimeoutMs } = patience;
    const limits = stepLimits(limitMs, { timeoutMs, leftMs: Infinity });
    const step = (): Promise<R> => answers.wait(() => call(atBackend), clock, limits);
    const asked = await this.#access.ask(step, clock, patience);
    if (asked.kind === 'open') asked.probe?.catch(() => {});
    this.#noteRead(asked);
    if (asked.kind === 'answered') return asked.answer;
    throw unavailable(asked.cause, name);
  }

  #noteRead(asked: BackendReply<unknown>): void {
    const { log } = this.#context;
    this.noteOutage();
    if (asked.kind === 'failed') log.storeFailed(unavailableCause(asked.cause));
    if (asked.kind === 'answered') log.storeAnswered();
  }

  #rejected(entry: Entry<unknown>, version: number, error: Error): void {
    const state = clusterStateOf(entry);
    state.rejectedVersion = version;
    if (error instanceof UndecodableError) state.undecodableVersion = version;
    this.#context.log.rejected(entry, version, error);
    const { events, options } = this.#context;
    const about = { startedAt: options.now(), took: 0, attempts: 0 };
    events.ended(executionRecord(checkStart(entry), about, { outcome: 'refused', version, error }));
  }
}

/** The confirmation of that version, and how long ago it was stored. Its age may be unknown: the clock of the backend was set back. */
function confirmedAgo(
  stored: StoredSnapshot['confirmation'],
  version: number,
): (Confirmation & { readonly ago: number }) | undefined {
  const { text, age = NaN } = stored ?? {};
  const confirmation = confirmationIn(text, version);
  if (confirmation === undefined || !(age >= -CLOCK_BACK_MS)) return undefined;
  return { ...confirmation, round: Math.max(confirmation.round, version), ago: Math.max(0, age) };
}
