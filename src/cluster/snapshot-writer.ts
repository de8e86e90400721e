import { type Entry, keyOf } from '../engine/entry.ts';
import { isOptionError } from '../errors.ts';
import { keepAbsentFor } from './absent-records.ts';
import type { BackendAccess } from './backend-access.ts';
import type { StoreSteps } from './backend-steps.ts';
import { clusterStateOf } from './cluster-state.ts';
import type { HeldLease } from './held-lease.ts';
import type { MemberContext } from './member-context.ts';
import { sliceBudgetOf } from './slice-budget.ts';
import { type Snapshot, withMetadata } from './snapshot.ts';
import { encodeBody } from './snapshot-body.ts';
import type { Codec, WriteAnswer } from './store-contract.ts';
import { LONGEST_STEP_MS } from './time-limits.ts';
import { unavailableCause } from './unavailable.ts';

/** Writes the snapshots of a member to its store, and reports what happens. */
export class SnapshotWriter {
  readonly #context: MemberContext;
  readonly #access: BackendAccess<StoreSteps>;
  readonly #steps: Pick<StoreSteps, 'write'>;
  readonly #codec: Codec;
  readonly #noteOutage: () => void;
  /** Why the last snapshot could not be written: the store is down, or it is well and refuses this one. */
  #error: unknown;

  constructor(
    context: MemberContext,
    access: BackendAccess<StoreSteps>,
    steps: Pick<StoreSteps, 'write'>,
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
   * Writes the snapshot of an entry. Never rejects: failures are reported. `undefined`: the store has not answered, or was
   * not asked.
   *
   * @param metadata called before the value is encoded, and at each write: the codec and the queue of the store may take
   * their time.
   * @param lease the lease of the load. If it is lost by then nothing is written.
   */
  async write(
    entry: Entry<unknown>,
    value: unknown,
    metadata: () => Omit<Snapshot, 'value'>,
    lease: HeldLease | undefined,
  ): Promise<WriteAnswer | undefined> {
    const { steps, answers, backgroundTimeoutMs, breaker } = this.#access;
    const { options, names, log, events } = this.#context;
    const { clock } = options;
    const token = lease?.id.token;
    try {
      const { isAbsent, mark } = metadata();
      const budget = sliceBudgetOf(clock, lease?.leftMs ?? options.timeoutMs);
      const body = await encodeBody(value, isAbsent || mark !== undefined, this.#codec, budget);
      const name = await names.atBackend(entry, steps.longestName);
      const maker = names.makerOf(entry);
      const state = clusterStateOf(entry);
      const { undecodableVersion } = state;
      const rejected = undecodableVersion > 0 ? undecodableVersion : undefined;
      let length = 0;
      const writeOnce = (): Promise<WriteAnswer> => {
        const about = metadata();
        const keepFor = isAbsent ? keepAbsentFor(about.dueIn) : undefined;
        const payload = withMetadata(body, about, maker);
        length = payload.length;
        if (state.publishing !== undefined) state.publishing.isSent = true;
        return this.#steps.write(name, payload, token, rejected, keepFor);
      };
      const write = (): Promise<WriteAnswer> => {
        const mostMs = Math.min(lease?.leftMs ?? LONGEST_STEP_MS, LONGEST_STEP_MS);
        return answers.wait(writeOnce, clock, {
          silenceMs: Math.min(backgroundTimeoutMs, LONGEST_STEP_MS),
          mostMs,
        });
      };
      const step = async (): Promise<WriteAnswer> => {
        try {
          return await write();
        } catch (error) {
          if (isOptionError(error) || lease?.isLost) throw error;
          return write(); // the answer of the first may be lost
        }
      };
      const isWanted = (): boolean => lease?.isLost !== true; // while the value was encoded, and the step waited for its turn
      const asked = await this.#access.ask(step, clock, { isWrite: true, isWanted });
      this.#noteOutage();
      if (asked.kind === 'open') return undefined;
      if (asked.kind === 'failed') {
        const isReported = this.#error !== undefined;
        if (breaker.isTripped) log.storeFailed(unavailableCause(asked.cause), isReported);
        throw asked.cause;
      }
      log.storeAnswered();
      this.#error = undefined;
      const { answer } = asked;
      log.written(entry);
      if (answer.kind === 'written') events.counters.bytesPublished += length;
      if (answer.kind === 'refused') {
        events.emit('publish-refused', { token, version: answer.version, ...keyOf(entry) });
      }
      return answer;
    } catch (error) {
      log.writeFailed(entry, unavailableCause(error), breaker.isTripped);
      this.#error = error;
      return undefined;
    }
  }
}
