import type { Machine } from '../machine.ts';
import type { Message } from '../message.ts';

/**
 * Rule 'holder': a reader without a value waits for the holder of the lease only while the store can be read, through which the
 * result of the holder would come. Else its instance loads too.
 */
export class Holders {
  /** The last read of the store: its answer was lost, or it was refused. */
  #isReadLost = false;
  /** When the last read of the store was sent, and whether its answer came too late to be used. */
  #readAt = 0;
  #isReadLate = false;
  /** When a command to the lock was lost. The look that went with it is made again with the next one. */
  #lockFailedAt = Number.NEGATIVE_INFINITY;
  /** The last message to the store has no answer. */
  #isSilent = false;
  /** The last answer of the lock: another instance has the lease. */
  #isHeld = false;
  /** It was for a reader without a value, and since then nothing has begun or ended here. */
  #isSame = false;

  readonly #machine: Machine;
  readonly #waitsMs: number;

  /** @param waitsMs how long the instance waits for an answer of the store. */
  constructor(machine: Machine, waitsMs: number) {
    this.#machine = machine;
    this.#waitsMs = waitsMs;
  }

  /** A load may begin without a lease, whatever the lock has answered. */
  get isUnseen(): boolean {
    return this.#isHeld && (this.#isSilent || this.#isReadLate);
  }

  /** The lock is asked once more for the same holder, and its result could not be read. @param message the one that is sent. */
  isWaitedForInVain({ step }: Message): boolean {
    return step === 'acquire' && this.#isHeld && this.#isSame && this.#isReadLost;
  }

  /** The store was sent that. */
  asked({ step }: Message): void {
    this.#isSilent = true;
    if (step !== 'read') return;
    this.#isReadLost = this.#isReadLate = false;
    this.#readAt = this.#machine.monotonic();
  }

  answeredByStore({ step }: Message): void {
    this.#isSilent = false;
    if (step === 'read') this.#isReadLate = this.#machine.monotonic() - this.#readAt > this.#waitsMs;
  }

  failed({ step }: Message): void {
    const now = this.#machine.monotonic();
    if (step === 'acquire') this.#lockFailedAt = now;
    if (step === 'read' && this.#lockFailedAt !== now) this.#isReadLost = true;
  }

  /**
   * @param leaseLeft of the answer of the lock to an acquire, in milliseconds; 0: no lease is held.
   * @param isCold there was no value then. One that is dropped later begins anew.
   */
  answeredByLock(leaseLeft: number, isCold: boolean): void {
    this.#isHeld = leaseLeft > 0;
    this.#isSame = isCold;
  }

  /** Something else has happened to the value. */
  wentOn(): void {
    this.#isSame = this.#isReadLost = false;
  }
}
