import type { Machine } from '../machine.ts';
import type { Message } from '../message.ts';
import { CLIENT_TIMEOUT_MS } from '../network.ts';

/** The lateness of timers, and the error of fast or slow clocks. */
const SLACK_MS = 5;

/** What is left for the lock where a reader without a value has waited for the store. */
const PART_OF_LOCK = 0.25;

/**
 * Rule 29: slow is not dead. A lock that has answered in time the last time that it was asked counts as there. In time is an
 * answer to an acquire within the time-out of the lock, a quarter of the deadline of the load and the lease that it tells of: the
 * shortest of them.
 */
export class Answers {
  readonly #machine: Machine;
  readonly #limitMs: number;
  readonly #sentAt: Map<Message, { readonly sentAt: number; readonly at: number; readonly limitMs: number }> =
    new Map();
  #isInTime = true;
  /** The last answer that was late: asked again at once, the lock has what is left of the same time. */
  #late: { readonly sentAt: number; readonly at: number } | undefined;

  constructor(
    machine: Machine,
    { timeout, leaseFor }: { readonly timeout: number; readonly leaseFor: number },
  ) {
    this.#machine = machine;
    this.#limitMs = Math.min(timeout / 4, leaseFor);
  }

  /** The lock is there, as far as the instance can know. */
  get isThere(): boolean {
    const now = this.#machine.monotonic();
    for (const { at, limitMs } of this.#sentAt.values()) if (now - at >= limitMs) return false;
    return this.#isInTime;
  }

  /** @param isWaitedFor a reader without a value waits: the store has had its part of the time-out. */
  sent(message: Message, isWaitedFor: boolean): void {
    if (message.step !== 'acquire') return;
    const ofLock = isWaitedFor ? CLIENT_TIMEOUT_MS * PART_OF_LOCK : CLIENT_TIMEOUT_MS;
    const limitMs = Math.min(this.#limitMs, ofLock) - SLACK_MS;
    const now = this.#machine.monotonic();
    const at = this.#late?.at === now ? this.#late.sentAt : now;
    this.#sentAt.set(message, { sentAt: now, at, limitMs });
  }

  /** @param leaseLeft how long the lease lasts that it tells of, in milliseconds from the request on at least. */
  answered(message: Message, leaseLeft: number): void {
    const { sentAt, at, limitMs } = this.#sentAt.get(message) ?? { sentAt: 0, at: 0, limitMs: 0 };
    const now = this.#machine.monotonic();
    this.#isInTime = now - at < limitMs && (leaseLeft === 0 || now - sentAt < leaseLeft - SLACK_MS);
    this.#late = this.#isInTime ? undefined : { sentAt: at, at: now };
    this.#sentAt.delete(message);
  }

  /** A command, or its answer, was lost; or the machine stood still. */
  failed(message?: Message): void {
    this.#isInTime = false;
    if (message !== undefined) this.#sentAt.delete(message);
  }
}
