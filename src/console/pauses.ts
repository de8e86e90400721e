import { type RefreshGroup, RefreshingValue } from '../index.ts';
import type { PausesEverywhere } from './actions.ts';
import { Journal, type JournalBackend } from './journal.ts';

/** The paused members by name, each with the operator. */
type Marks = Readonly<Record<string, string>>;

/** Within what time an instance that is read follows. */
const WITHIN_MS = 5000;

/** The names of the marks at the lock and the store: of the value, and of the list that it is made of. */
const NAME = 'tickless-console-paused';
const LIST = 'tickless-console-pauses';

/**
 * Members that are paused on all instances which have a console with the same lock and store. Operators change a list, one
 * after the other. A value that is made of it follows the store, as any value with `propagateWithin` does, and pauses the
 * members that it names.
 */
export class Pauses implements PausesEverywhere {
  readonly #group: RefreshGroup;
  readonly #list: Journal;
  readonly #marks: RefreshingValue<Marks>;

  constructor(group: RefreshGroup, backend: JournalBackend) {
    this.#group = group;
    this.#list = new Journal(backend, LIST);
    this.#marks = new RefreshingValue<Marks>({
      name: NAME,
      ...(backend as object),
      schedule: { hours: 12 }, // written again, long before the retention of the store is over
      propagateWithin: WITHIN_MS,
      initial: { value: {}, loadedAt: 0 },
      load: async () => marksOf(await this.#list.change((list) => list)),
    });
    this.#marks.on('changed', ({ value, previous = {} }) => {
      const names = Object.keys({ ...value, ...previous });
      this.#apply(
        value,
        names.filter((name) => Object.hasOwn(value, name) !== Object.hasOwn(previous, name)),
      );
    });
    void this.#marks.get().catch(() => {}); // marks that were left before this instance started
  }

  /** Reads the marks as they are now, and starts their check where it is due. */
  check(): Marks {
    return this.#marks.current;
  }

  /** Rejects when the lock or the store can't be used. */
  async set(name: string, isPaused: boolean, by: string): Promise<void> {
    let list = await this.#list.change((all) => {
      const others = all.filter((one) => isPause(one) && one.name !== name);
      return isPaused ? [{ name, by }, ...others] : others;
    });
    // Of two operators who change the list at the same time, the one whose marks are published last sees both changes.
    for (let published = ''; published !== JSON.stringify(list); list = await this.#list.read()) {
      published = JSON.stringify(list);
      await this.#marks.set(marksOf(list), { everywhere: true });
    }
    this.#apply(marksOf(list), [name]); // another operator may have taken it back before it was published
  }

  #apply(marks: Marks, names: readonly string[]): void {
    for (const { name, member } of this.#group.members()) {
      if (!names.includes(name)) continue;
      if (Object.hasOwn(marks, name)) member.pause();
      else member.resume();
    }
  }

  async close(): Promise<void> {
    await this.#marks.close({ timeout: 0 });
  }
}

/** It comes from outside. */
function isPause(given: unknown): given is { readonly name: string; readonly by: string } {
  const { name, by } = (given ?? {}) as Partial<Record<string, unknown>>;
  return typeof name === 'string' && typeof by === 'string';
}

/** `Object.fromEntries` defines each name, also that of a prototype. */
function marksOf(list: readonly unknown[]): Marks {
  return Object.fromEntries(list.filter(isPause).map(({ name, by }) => [name, by]));
}
