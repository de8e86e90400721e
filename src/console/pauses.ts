import { type RefreshGroup, RefreshingValue } from '../index.ts';
import type { PausesEverywhere } from './actions.ts';
import type { JournalBackend } from './journal.ts';

/** The paused members by name, each with the operator. */
type Marks = Readonly<Record<string, string>>;

/** Within what time an instance that is read follows. */
const WITHIN_MS = 5000;

/** The name of the marks at the lock and the store. */
const NAME = 'tickless-console-paused';

/**
 * Members that are paused on all instances which have a console with the same lock and store: a value of its own that
 * follows the store, as any value with `propagateWithin` does, and pauses the members that it names.
 */
export class Pauses implements PausesEverywhere {
  readonly #marks: RefreshingValue<Marks>;

  constructor(group: RefreshGroup, backend: JournalBackend) {
    this.#marks = new RefreshingValue<Marks>({
      name: NAME,
      ...(backend as object),
      schedule: { hours: 12 }, // written again, long before the retention of the store is over
      propagateWithin: WITHIN_MS,
      initial: { value: {}, loadedAt: 0 },
      load: ({ previous }) => previous?.value ?? {},
    });
    this.#marks.on('changed', ({ value, previous = {} }) => {
      for (const { name, member } of group.members()) {
        const [is, was] = [Object.hasOwn(value, name), Object.hasOwn(previous, name)];
        if (is && !was) member.pause();
        if (was && !is) member.resume();
      }
    });
    void this.#marks.get().catch(() => {}); // marks that were left before this instance started
  }

  /** Reads the marks as they are now, and starts their check where it is due. */
  check(): Marks {
    return this.#marks.current;
  }

  /** Rejects with `LockUnavailableError` or `StoreUnavailableError`. */
  async set(name: string, isPaused: boolean, by: string): Promise<void> {
    const { [name]: _gone, ...others } = await this.#marks.get();
    await this.#marks.set(isPaused ? { ...others, [name]: by } : others, { everywhere: true });
  }

  close(): Promise<void> {
    return this.#marks.close({ timeout: 0 });
  }
}
