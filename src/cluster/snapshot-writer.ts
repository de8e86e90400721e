import type { Entry } from '../engine/entry.ts';
import { isTicklessError } from '../errors.ts';
import { keepAbsentFor } from './absent-records.ts';
import type { BackendAccess, BackendReply } from './backend-access.ts';
import type { Settled, SnapshotChange, StoreSteps } from './backend-steps.ts';
import { clusterStateOf } from './cluster-state.ts';
import { confirmationText, LONGEST_CONFIRMATION } from './confirmation.ts';
import type { HeldLease } from './held-lease.ts';
import { bytesOf } from './history.ts';
import type { MemberContext } from './member-context.ts';
import { sliceBudgetOf } from './slice-budget.ts';
import { type SnapshotMetadata, withMetadata } from './snapshot.ts';
import { type EncodedBody, encodeBody } from './snapshot-body.ts';
import type { Codec, ReplaceAnswer } from './store-contract.ts';
import { LONGEST_STEP_MS } from './time-limits.ts';
import { unavailableCause } from './unavailable.ts';

/** The answer of the store. */
export interface Written {
  /** `undefined`: nothing, or it was not asked. */
  readonly answer: Settled['written'] | undefined;
  /** The version that the value is the same as; `undefined`: it has one of its own. */
  readonly confirms: number | undefined;
  /** The length of what was sent, in UTF-8. */
  readonly bytes: number;
  /** Its lease has ended with it. */
  readonly isReleased: boolean;
}

/** Changes the snapshot of a name, and ends the lease of its load in the same step. */
export type Settle = (change: SnapshotChange, name: string) => Promise<Settled>;

/** A result that is to be published: its relation to the version in place, and its text. */
export interface KnownOfResult {
  /** It is the value of this version, which the store may have already. */
  readonly kept: number | undefined;
  /** Its text may be that of the version in place. */
  readonly mayEqual: boolean;
  /** Its text, where it is encoded already, or is being encoded. */
  readonly encoded: Promise<EncodedBody> | undefined;
}

/** Under which a snapshot is written, as long as that lasts: a lease, or the change of a person. */
export interface WriteRight extends Pick<HeldLease, 'leftMs' | 'isLost'> {
  /** The version of what is written. @default undefined: the backend gives it one */
  readonly token: number | undefined;
}
/** A board has no age, and no next round. */
const OF_BOARD: SnapshotMetadata = {
  isAbsent: false,
  age: 0,
  dueIn: Infinity,
  isDueTimeOverridden: false,
  took: 0,
  maxStaleness: undefined,
  isLimitScheduled: false,
  tags: undefined,
  meta: undefined,
  headers: undefined,
};

/** Writes the snapshots of a member to its store, and reports what happens. */
export class SnapshotWriter {
  readonly #context: MemberContext;
  readonly #access: BackendAccess<StoreSteps>;
  readonly #steps: Pick<StoreSteps, 'replace'>;
  readonly #codec: Codec;
  readonly #noteOutage: () => void;
  /** Why the last snapshot could not be written: the store is down, or it is well and refuses this one. */
  #error: unknown;
  /** That of the store, which is logged. */
  #refusal: unknown;

  constructor(
    context: MemberContext,
    access: BackendAccess<StoreSteps>,
    steps: Pick<StoreSteps, 'replace'>,
    codec: Codec,
    noteOutage: () => void,
  ) {
    this.#context = context;
    this.#access = access;
    this.#steps = steps;
    this.#codec = codec;
    this.#noteOutage = noteOutage;
  }

  get error(): unknown {
    return this.#error;
  }

  /**
   * Writes the snapshot of an entry, or confirms the one in the store. Never rejects: failures are reported. `undefined`: the store
   * has not answered, or was not asked.
   *
   * @param metadata called before the value is encoded, and at each write: the codec and the queue of the store may take
   * their time.
   * @param by the lease of the load, or the change of a person. If it is lost by then nothing is written.
   * @param result what the store may have already.
   * @param settle sends it.
   */
  async write(
    entry: Entry<unknown>,
    value: unknown,
    metadata: () => SnapshotMetadata,
    by: WriteRight,
    { kept, mayEqual, encoded }: KnownOfResult,
    settle: Settle,
  ): Promise<Written | undefined> {
    const { steps } = this.#access;
    const { options, names, log } = this.#context;
    const { token } = by;
    const state = clusterStateOf(entry);
    let length = 0;
    const measured =
      (of: (text: string) => number) =>
      (text: string): number => {
        length = of(text);
        return length;
      };
    try {
      const name = await names.atBackend(entry, steps.longestName);
      const confirmed = async (version: number): Promise<Written | undefined> => {
        const told = (): string => confirmationText({ ...metadata(), version, round: token ?? 0 });
        if (told().length > LONGEST_CONFIRMATION) return undefined;
        const send = (text: string): Promise<Settled> => settle({ as: 'confirm', version, text }, name);
        const settled = this.#answerOf(entry, await this.#send(by, told, measured(bytesOf), send));
        const answer = settled?.written;
        // It was replaced by an older one or a mark, or is gone.
        if (answer?.kind === 'refused' && answer.version <= (token ?? Infinity)) return undefined;
        return { answer, confirms: version, bytes: length, isReleased: settled?.isReleased === true };
      };
      const known = kept === undefined ? undefined : await confirmed(kept);
      if (known !== undefined) return known;
      const { isAbsent, mark } = metadata();
      const hasDigest = mayEqual && options.kind === 'value' && !isAbsent;
      const isEmpty = isAbsent || mark !== undefined;
      const body = await (encoded ?? this.encode(value, isEmpty, hasDigest, by));
      const { text } = state;
      const isEqual = text !== undefined && text.digest === body.digest;
      const equal = isEqual ? await confirmed(text.version) : undefined;
      if (equal !== undefined) return equal;
      const maker = names.makerOf(entry);
      const { undecodableVersion } = state;
      const rejected = undecodableVersion > 0 ? undecodableVersion : undefined;
      const payload = (): string => withMetadata(body, metadata(), maker);
      const write = (payload: string): Promise<Settled> => {
        const { isAbsent, dueIn } = metadata();
        const keepFor = isAbsent ? keepAbsentFor(dueIn) : undefined;
        return settle({ as: 'write', payload, rejected, keepFor }, name);
      };
      const bytes = (text: string): number =>
        bytesOf(text.slice(0, text.length - body.text.length)) + body.bytes;
      const settled = this.#answerOf(entry, await this.#send(by, payload, measured(bytes), write));
      const answer = settled?.written;
      if (answer?.kind === 'written')
        state.text = body.digest === undefined ? undefined : { version: answer.version, digest: body.digest };
      return { answer, confirms: undefined, bytes: length, isReleased: settled?.isReleased === true };
    } catch (error) {
      if (error !== this.#refusal) log.encodeFailed(entry, unavailableCause(error));
      this.#error = error;
      return undefined;
    }
  }

  /**
   * Writes a board in the place of a version; 0: where there is none. Rejects where it can't be encoded or written; `undefined`: the
   * store was not asked.
   */
  async replace(entry: Entry<unknown>, board: unknown, version: number): Promise<ReplaceAnswer | undefined> {
    const { names } = this.#context;
    const name = await names.atBackend(entry, this.#access.steps.longestName);
    const body = await this.encode(board, false, false, undefined);
    const text = withMetadata(body, OF_BOARD, names.makerOf(entry));
    const replace = async (): Promise<{ readonly written: ReplaceAnswer }> => ({
      written: await this.#steps.replace(name, text, version),
    });
    return this.#answerOf(entry, await this.#send(undefined, () => text, bytesOf, replace))?.written;
  }

  /**
   * Encodes a value. Rejects with the error of the codec.
   *
   * @param isEmpty there is none.
   * @param hasDigest it is to be compared with the text of the version in place.
   */
  encode(
    value: unknown,
    isEmpty: boolean,
    hasDigest: boolean,
    lease: WriteRight | undefined,
  ): Promise<EncodedBody> {
    const { clock, timeoutMs } = this.#context.options;
    const budget = sliceBudgetOf(clock, lease?.leftMs ?? timeoutMs);
    return encodeBody(value, isEmpty, this.#codec, hasDigest, budget);
  }

  /** One step at the store. @param payload made anew at each try. @param bytes the length of one, in UTF-8. */
  #send<A extends { readonly written: Settled['written'] | ReplaceAnswer }>(
    lease: WriteRight | undefined,
    payload: () => string,
    bytes: (payload: string) => number,
    send: (payload: string) => Promise<A>,
  ): Promise<BackendReply<A>> {
    const { answers, backgroundTimeoutMs } = this.#access;
    const { options, events } = this.#context;
    const { clock } = options;
    let length = 0;
    const sendOnce = (): Promise<A> => {
      const text = payload();
      length = bytes(text);
      return send(text);
    };
    const write = (): Promise<A> => {
      const mostMs = Math.min(lease?.leftMs ?? LONGEST_STEP_MS, LONGEST_STEP_MS);
      const silenceMs = Math.min(backgroundTimeoutMs, mostMs);
      return answers.wait(sendOnce, clock, { silenceMs, mostMs, step: 'write' });
    };
    const counted = (answer: A): A => {
      if (answer.written.kind === 'written') events.counters.bytes += length;
      return answer;
    };
    const step = async (): Promise<A> => {
      try {
        return counted(await write());
      } catch (error) {
        if (isTicklessError(error, 'OPTION') || lease?.isLost) throw error;
        return counted(await write()); // the answer of the first may be lost
      }
    };
    const isWanted = (): boolean => lease?.isLost !== true; // while the value was encoded, and the step waited for its turn
    return this.#access.ask(step, clock, { isWrite: true, isWanted });
  }

  /** Reports the answer of the store. @throws the cause when it fails. */
  #answerOf<A>(entry: Entry<unknown>, asked: BackendReply<A>): A | undefined {
    const { log } = this.#context;
    this.#noteOutage();
    if (asked.kind === 'open') return undefined;
    if (asked.kind === 'failed') {
      this.#refusal = asked.cause;
      if (this.#access.breaker.isTripped) log.storeFailed(unavailableCause(asked.cause));
      else log.writeFailed(entry, unavailableCause(asked.cause));
      throw asked.cause;
    }
    log.storeAnswered();
    this.#error = undefined;
    log.written(entry);
    return asked.answer;
  }
}
