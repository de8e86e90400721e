import { TextCells } from '../../../src/backends/cas/text-cells.ts';
import type { FoundText, SwappableTexts, Swapped, TextKey } from '../../../src/backends/cas/texts.ts';
import { type ClockSpan, KnownClock } from '../../../src/records/cells/known-clock.ts';
import { SwappedRecords } from '../../../src/records/cells/swapped-records.ts';

/** The server: its texts, and its clock. */
export class Server {
  readonly texts: Map<string, string> = new Map();
  now: number = Date.UTC(2026, 0, 1);
  readonly #until: Map<string, number> = new Map();

  /** It deletes what it was to keep no longer. */
  keep(id: string, keepForMs: number): void {
    this.#until.set(id, this.now + keepForMs);
  }

  expire(): void {
    for (const [id, until] of this.#until) if (until < this.now) this.texts.delete(id);
  }

  /** Its clock goes. */
  static ofNow(): Server {
    return Object.defineProperty(new Server(), 'now', { get: () => Date.now() });
  }
}

type Bounds = readonly [earliest: number, latest: number];

/** What two clients know of one clock, in milliseconds from the right time. */
export const CLOCKS: readonly (readonly [string, Bounds, Bounds])[] = [
  ['the clock is known exactly', [0, 0], [0, 0]],
  ['one knows a later clock than the other', [-5, 30], [-5, 2]],
  ['one knows an earlier clock than the other', [-30, 5], [-2, 5]],
];

/** A client that knows the clock of its server as well as its two bounds say, relative to the right time. */
export class MemoryTexts implements SwappableTexts {
  readonly mostEdits: number = 1;
  readonly longestText: number = 1000;
  timeoutMs = 10_000;
  readonly commands: string[] = [];
  /** Of each put. */
  readonly keptForMs: number[] = [];
  /** Called before a command takes effect. */
  before: (command: string) => void = () => {};
  /** Called when a swap has taken effect, before its answer. */
  after: (command: string) => Promise<void> = async () => {};
  #isAnswered = false;
  readonly #server: Server;
  readonly #bounds: ClockSpan;

  suspendedMs = 0;
  /** Of this machine: it goes as that of the server, but while it is suspended. */
  readonly clock: { monotonic(): number };

  constructor(server: Server, earliest = 0, latest = 0) {
    this.#server = server;
    this.clock = { monotonic: () => server.now - this.suspendedMs };
    this.#bounds = { earliest, latest };
  }

  span(): ClockSpan {
    if (!this.#isAnswered) throw new Error('no answer yet');
    const { now } = this.#server;
    return { earliest: now + this.#bounds.earliest, latest: now + this.#bounds.latest };
  }

  async read(keys: readonly TextKey[]): Promise<(string | undefined)[]> {
    this.#command('read');
    return keys.map((key) => this.#server.texts.get(idOf(key)));
  }

  async swap(
    key: TextKey,
    before: string | undefined,
    after: string | undefined,
    keepForMs: number,
  ): Promise<Swapped> {
    this.#command('swap');
    const present = this.#server.texts.get(idOf(key));
    const isThere = present !== undefined && present === after;
    if (present !== before) return isThere ? { isDone: true } : { isDone: false, present };
    if (after === undefined) this.#server.texts.delete(idOf(key));
    else this.#server.texts.set(idOf(key), after);
    this.#server.keep(idOf(key), keepForMs);
    await this.after('swap');
    return { isDone: true };
  }

  async put(key: TextKey, text: string, keepForMs: number): Promise<void> {
    this.#command('put');
    this.keptForMs.push(keepForMs);
    this.#server.texts.set(idOf(key), text);
    this.#server.keep(idOf(key), keepForMs);
  }

  async take(key: TextKey): Promise<string | undefined> {
    this.#command('take');
    const text = this.#server.texts.get(idOf(key));
    this.#server.texts.delete(idOf(key));
    return text;
  }

  async ofPartitions(prefix: string, sort: string): Promise<FoundText[]> {
    return this.#all(prefix).filter(({ key }) => key.sort === sort);
  }

  async ofPartition(partition: string, prefix: string): Promise<FoundText[]> {
    return this.#all(`${partition}\0${prefix}`);
  }

  #all(beginning: string): FoundText[] {
    this.#command('list');
    return [...this.#server.texts].flatMap(([id, text]) => {
      const [partition = '', sort = ''] = id.split('\0');
      return id.startsWith(beginning) ? [{ key: { partition, sort }, text }] : [];
    });
  }

  #command(command: string): void {
    this.before(command);
    this.commands.push(command);
    this.#server.expire();
    this.#isAnswered = true;
  }
}

/** Records of that client. */
export function swappedIn(texts: MemoryTexts, retentionMs: number = Infinity): SwappedRecords {
  return new SwappedRecords(
    new TextCells(texts),
    retentionMs,
    new KnownClock(() => texts.clock.monotonic(), true),
  );
}

function idOf({ partition, sort }: TextKey): string {
  return `${partition}\0${sort}`;
}
