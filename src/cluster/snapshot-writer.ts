import type { Entry } from '../engine/entry.ts';
import { isTicklessError } from '../errors.ts';
import { keepAbsentFor } from './absent-records.ts';
import type { BackendAccess, BackendReply } from './backend-access.ts';
import type { StoreSteps } from './backend-steps.ts';
import { clusterStateOf } from './cluster-state.ts';
import { confirmationText, LONGEST_CONFIRMATION } from './confirmation.ts';
import type { HeldLease } from './held-lease.ts';
import { bytesOf } from './history.ts';
import type { MemberContext } from './member-context.ts';
import { sliceBudgetOf } from './slice-budget.ts';
import { type SnapshotMetadata, withMetadata } from './snapshot.ts';
import { type EncodedBody, encodeBody } from './snapshot-body.ts';
import type { Codec, WriteAnswer } from './store-contract.ts';
import { LONGEST_STEP_MS } from './time-limits.ts';
import { unavailableCause } from './unavailable.ts';

/** The answer of the store. */
export interface Written {
  /** `undefined`: nothing, or it was not asked. */
  readonly answer: WriteAnswer | undefined;
  /** The version that the value is the same as; `undefined`: it has one of its own. */
  readonly confirms: number | undefined;
  /** The length of what was sent, in UTF-8. */
  readonly bytes: number;
}

/** A result that is to be published: its relation to the version in place, and its text. */
export interface KnownOfResult {
  /** It is the value of this version, which the store may have already. */
  readonly kept: number | undefined;
  /** Its text may be that of the version in place. */
  readonly mayEqual: boolean;
  /** Its text, where it is encoded already, or is being encoded. */
  readonly encoded: Promise<EncodedBody> | undefined;
}

/** Writes the snapshots of a member to its store, and reports what happens. */
export class SnapshotWriter {
  readonly #context: MemberContext;
  readonly #access: BackendAccess<StoreSteps>;
  readonly #steps: Pick<StoreSteps, 'write' | 'confirm'>;
  readonly #codec: Codec;
  readonly #noteOutage: () => void;
  /** Why the last snapshot could not be written: the store is down, or it is well and refuses this one. */
  #error: unknown;
  /** That of the store, which is logged. */
  #refusal: unknown;

  constructor(
    context: MemberContext,
    access: BackendAccess<StoreSteps>,
    steps: Pick<StoreSteps, 'write' | 'confirm'>,
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
   * @param lease the lease of the load. If it is lost by then nothing is written.
   * @param result what the store may have already.
   */
  async write(
    entry: Entry<unknown>,
    value: unknown,
    metadata: () => SnapshotMetadata,
    lease: HeldLease | undefined,
    { kept, mayEqual, encoded }: KnownOfResult,
  ): Promise<Written | undefined> {
    const { steps } = this.#access;
    const { options, names, log } = this.#context;
    const token = lease?.id.token;
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
        if (this.#steps.confirm === undefined || told().length > LONGEST_CONFIRMATION) return undefined;
        const confirm = this.#steps.confirm.bind(undefined, name, version);
        const answer = this.#answerOf(
          entry,
          await this.#send(entry, lease, told, measured(bytesOf), confirm),
        );
        const isOvertaken = answer?.kind === 'refused' && answer.version > (token ?? Infinity);
        return answer === undefined || answer.kind === 'written' || isOvertaken
          ? { answer, confirms: version, bytes: length }
          : undefined; // it was replaced by an older one or a mark, or is gone
      };
      const known = kept === undefined ? undefined : await confirmed(kept);
      if (known !== undefined) return known;
      const { isAbsent, mark } = metadata();
      const hasDigest =
        mayEqual && options.kind === 'value' && !isAbsent && this.#steps.confirm !== undefined;
      const isEmpty = isAbsent || mark !== undefined;
      const body = await (encoded ?? this.encode(value, isEmpty, hasDigest, lease));
      const { text } = state;
      const isEqual = text !== undefined && text.digest === body.digest;
      const equal = isEqual ? await confirmed(text.version) : undefined;
      if (equal !== undefined) return equal;
      const maker = names.makerOf(entry);
      const { undecodableVersion } = state;
      const rejected = undecodableVersion > 0 ? undecodableVersion : undefined;
      const payload = (): string => withMetadata(body, metadata(), maker);
      const write = (text: string): Promise<WriteAnswer> => {
        const { isAbsent, dueIn } = metadata();
        return this.#steps.write(name, text, token, rejected, isAbsent ? keepAbsentFor(dueIn) : undefined);
      };
      const bytes = (text: string): number =>
        bytesOf(text.slice(0, text.length - body.text.length)) + body.bytes;
      const answer = this.#answerOf(entry, await this.#send(entry, lease, payload, measured(bytes), write));
      if (answer?.kind === 'written')
        state.text = body.digest === undefined ? undefined : { version: answer.version, digest: body.digest };
      return { answer, confirms: undefined, bytes: length };
    } catch (error) {
      if (error !== this.#refusal) log.encodeFailed(entry, unavailableCause(error));
      this.#error = error;
      return undefined;
    }
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
    lease: HeldLease | undefined,
  ): Promise<EncodedBody> {
    const { clock, timeoutMs } = this.#context.options;
    const budget = sliceBudgetOf(clock, lease?.leftMs ?? timeoutMs);
    return encodeBody(value, isEmpty, this.#codec, hasDigest, budget);
  }

  /** One step at the store. @param payload made anew at each try. @param bytes the length of one, in UTF-8. */
  #send(
    _entry: Entry<unknown>,
    lease: HeldLease | undefined,
    payload: () => string,
    bytes: (payload: string) => number,
    send: (payload: string) => Promise<WriteAnswer>,
  ): Promise<BackendReply<WriteAnswer>> {
    const { answers, backgroundTimeoutMs } = this.#access;
    const { options, events } = this.#context;
    const { clock } = options;
    let length = 0;
    const sendOnce = (): Promise<WriteAnswer> => {
      const text = payload();
      length = bytes(text);
      return send(text);
    };
    const write = (): Promise<WriteAnswer> => {
      const mostMs = Math.min(lease?.leftMs ?? LONGEST_STEP_MS, LONGEST_STEP_MS);
      const silenceMs = Math.min(backgroundTimeoutMs, LONGEST_STEP_MS);
      return answers.wait(sendOnce, clock, { silenceMs, mostMs, step: 'write' });
    };
    const counted = (answer: WriteAnswer): WriteAnswer => {
      if (answer.kind === 'written') events.counters.bytes += length;
      return answer;
    };
    const step = async (): Promise<WriteAnswer> => {
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
  #answerOf(entry: Entry<unknown>, asked: BackendReply<WriteAnswer>): WriteAnswer | undefined {
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
