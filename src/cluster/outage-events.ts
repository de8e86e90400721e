import type { Events } from '../observe/member-events.ts';
import type { BackendOutage } from './circuit-breaker.ts';

/**
 * Emits the events of the outages of one backend for one member: each outage once when a step of the member first finds
 * it, and its end when the backend answers any member. So an outage that no step of the member has met is not emitted.
 */
export class OutageEvents {
  readonly #backend: 'lock' | 'store';
  readonly #events: Events;
  readonly #errorOf: (cause: unknown) => Error;
  #known: BackendOutage | undefined;

  constructor(backend: 'lock' | 'store', events: Events, errorOf: (cause: unknown) => Error) {
    this.#backend = backend;
    this.#events = events;
    this.#errorOf = errorOf;
  }

  /** @param outage the present one, after a step of the member; `undefined`: the backend answers. */
  note(outage: BackendOutage | undefined): void {
    if (outage === undefined || outage === this.#known) return;
    this.#known = outage;
    const backend = this.#backend;
    outage.onEnd.push(() => {
      const { startedAt, endedAt = startedAt } = outage;
      this.#events.emit('backend-up', { backend, lasted: endedAt - startedAt }, {}, outage);
    });
    this.#events.emit('backend-down', () => ({ backend, error: this.#errorOf(outage.cause) }), {}, outage);
  }
}
