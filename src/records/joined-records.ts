import { CommandPlaces } from './command-places.ts';
import { EditJoiner } from './edit-joiner.ts';
import { placeOf, REPORT } from './names.ts';
import type { Edit, Records, Steps } from './records.ts';

/** Those of a lock and of a store are fewer than a pool has connections, or they would wait there, where no edit joins them. */
const MAX_CONCURRENT_COMMANDS = 4;

/** @returns the records with edits joined; `undefined`: each of its commands takes one edit. */
export function joined(records: Steps & Pick<Records, 'mostEdits'>): JoinedRecords | undefined {
  return records.mostEdits > 1 ? new JoinedRecords(records) : undefined;
}

/**
 * The records of a backend, where a command takes several edits: those of keys that are due in the same turn of the event
 * loop are one command for each kind of edit, and few commands are under way. Extensions come before commands that wait.
 */
export class JoinedRecords implements Steps {
  readonly #records: Steps;
  readonly #commands: CommandPlaces = new CommandPlaces(MAX_CONCURRENT_COMMANDS);
  readonly #joiners: Map<string, EditJoiner> = new Map();

  constructor(records: Steps) {
    this.#records = records;
  }

  apply(edits: readonly Edit[]): ReturnType<Records['apply']> {
    const cells = new Set(edits.map(({ name }) => placeOf(name).cell));
    const kind = cells.size === 1 ? kindOf(edits) : undefined;
    if (kind === undefined) return this.#commands.run(() => this.#records.apply(edits));
    return this.#joinerOf(kind).ask(edits);
  }

  list(...args: Parameters<Records['list']>): ReturnType<Records['list']> {
    return this.#commands.run(() => this.#records.list(...args));
  }

  editions(...args: Parameters<Records['editions']>): ReturnType<Records['editions']> {
    return this.#commands.run(() => this.#records.editions(...args));
  }

  async warning(): Promise<string | undefined> {
    return this.#records.warning?.();
  }

  /** The backend is silent: the commands under way count as lost. */
  silent(): void {
    this.#commands.silent();
  }

  #joinerOf(kind: string): EditJoiner {
    let joiner = this.#joiners.get(kind);
    if (joiner === undefined) {
      const commands = this.#commands;
      const urgent: Pick<CommandPlaces, 'run'> = { run: (command) => commands.runUrgent(command) };
      joiner = new EditJoiner(
        (edits) => this.#records.apply(edits),
        kind === 'extension' ? urgent : commands,
      );
      this.#joiners.set(kind, joiner);
    }
    return joiner;
  }
}

/** The edits of one name, which may share a command with those of others; `undefined`: they are sent alone. */
function kindOf(edits: readonly Edit[]): string | undefined {
  const kinds = edits.map(kindOfOne);
  return kinds.includes(undefined) ? undefined : KINDS.find((kind) => kinds.includes(kind));
}

/** A command is of the first kind that it has. An end of a lease does not wait for a large text, nor a read for a write. */
const KINDS = ['put', 'claim', 'end', 'extension', 'read'] as const;

function kindOfOne(edit: Edit): (typeof KINDS)[number] | undefined {
  switch (edit.op) {
    case 'claim':
      return 'claim';
    case 'put':
      return edit.name.startsWith(REPORT) ? undefined : 'put';
    case 'amend':
      return edit.phase === undefined ? 'extension' : 'end';
    case 'read':
      return edit.token === undefined && edit.isBrief !== true ? 'read' : undefined;
    case 'delete':
      return undefined;
  }
}
