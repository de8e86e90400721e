import { QUIET_MICROTASKS, soonInTurn, whenQuiet } from '../time/when-quiet.ts';
import type { CommandPlaces } from './command-places.ts';
import { placeOf } from './names.ts';
import type { Edit, Records } from './records.ts';

/** The most edits of one command, and the most characters of its texts, unless it has only one. */
const MOST_EDITS = 500;
const MOST_CHARACTERS = 4_000_000;

/** The edits of one name. */
interface Item {
  readonly edits: readonly Edit[];
  readonly resolve: (answer: Awaited<ReturnType<Records['apply']>>) => void;
  readonly reject: (error: unknown) => void;
}

/** The edits of one command, until it is sent. */
interface Batch {
  readonly items: Map<string, Item>;
  size: number;
  /** It waits for its place among the commands under way, and further edits may join it. */
  isQueued: boolean;
}

/**
 * Joins single edits that are asked for in the same turn of the event loop into one command for all of them; and those that come
 * while it waits for other commands, so that a slow backend gets fewer and larger ones. For its caller a joined edit is the same
 * as a single one: it has an answer or an error of its own, and may be asked for again.
 *
 * A command never has the same name twice: the second edit begins another command.
 */
export class EditJoiner {
  readonly #apply: Records['apply'];
  readonly #commands: Pick<CommandPlaces, 'run'>;
  #open: Batch | undefined;

  /** @param commands limits the commands under way. */
  constructor(apply: Records['apply'], commands: Pick<CommandPlaces, 'run'>) {
    this.#apply = apply;
    this.#commands = commands;
  }

  /** @param edits of one name. Resolves with their answers; an error of the first of them rejects. */
  ask(edits: readonly Edit[]): ReturnType<Records['apply']> {
    return new Promise((resolve, reject) => {
      const sizes = edits.map((edit) => (edit.op === 'put' ? edit.text.length : 0));
      const size = Math.max(0, ...sizes);
      const { cell } = placeOf((edits[0] as Edit).name);
      if (this.#open?.items.has(cell) || (this.#open?.size ?? 0) + size > MOST_CHARACTERS) this.#close();
      const open = this.#open ?? this.#begin();
      open.items.set(cell, { edits, resolve, reject });
      open.size += size;
      if (open.items.size === MOST_EDITS) this.#close();
    });
  }

  #begin(): Batch {
    const batch: Batch = { items: new Map(), size: 0, isQueued: false };
    this.#open = batch;
    const isOver = (): boolean => batch.isQueued;
    const size = (): number => batch.items.size;
    whenQuiet({ size, checks: QUIET_MICROTASKS, soon: soonInTurn, isOver }, () => this.#queue(batch));
    return batch;
  }

  /** No edit joins it any longer. */
  #close(): void {
    const batch = this.#open;
    this.#open = undefined;
    if (batch !== undefined) this.#queue(batch);
  }

  #queue(batch: Batch): void {
    if (batch.isQueued) return;
    batch.isQueued = true;
    void this.#commands.run(() => {
      if (this.#open === batch) this.#open = undefined;
      return this.#send([...batch.items.values()]);
    });
  }

  /** Never rejects. */
  async #send(items: readonly Item[]): Promise<void> {
    try {
      const all = items.flatMap(({ edits }) => edits);
      const { now, answers } = await this.#apply(all);
      if (answers.length !== all.length) throw new TypeError('the answers to some edits are missing');
      let begin = 0;
      for (const { edits, resolve, reject } of items) {
        const own = answers.slice(begin, begin + edits.length);
        begin += edits.length;
        const [first] = own;
        if (first instanceof Error) reject(first);
        else resolve({ now, answers: own });
      }
    } catch (error) {
      for (const { reject } of items) reject(error);
    }
  }
}
