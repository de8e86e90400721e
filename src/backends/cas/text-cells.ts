import { bytesOf } from '../../cluster/history.ts';
import { oneByOne } from '../../cluster/one-by-one.ts';
import type { Cells, Change, LongText, Seen, Swap } from '../../records/cells/cells.ts';
import { idsIn, mainIn, partsIn } from '../../records/cells/stored-text.ts';
import { REPORT } from '../../records/names.ts';
import type { SwappableTexts, TextKey } from './texts.ts';

/** The version of the format. */
const ONLY = 'v1';

/** Parts outlive the records that name them by this, in milliseconds. */
const MARGIN_MS = 3_600_000;

/** A record is written again by each confirmation, and its parts are not: they are kept for a few times as long as asked for. */
const TIMES_KEPT = 3;

/** Of long texts it is remembered until when they are kept. */
const MOST_KNOWN = 10_000;

/** Of the line before the first part, in characters. */
const LONGEST_HEAD = 32;

/**
 * Cells of texts that are swapped one by one, and are not as long as a value may be: a long text is in parts, which are written
 * before the text that names them, and deleted after the last one that does. The first one begins with a line: how many they are,
 * and until when they are kept.
 */
export class TextCells implements Cells {
  readonly mostEdits: number;
  readonly sharesCommands: boolean;
  readonly timeoutMs: number;
  readonly #texts: SwappableTexts;
  readonly #keptUntil: Map<string, number> = new Map();

  constructor(texts: SwappableTexts) {
    this.mostEdits = texts.mostEdits;
    this.sharesCommands = texts.mostEdits > 1;
    this.timeoutMs = texts.timeoutMs;
    this.#texts = texts;
  }

  async swap(changes: readonly Change[]): ReturnType<Cells['swap']> {
    const looks = changes.filter(({ swap }) => swap === undefined);
    const found = looks.length === 0 ? [] : await this.#texts.read(looks.map(({ name }) => keyOf(name)));
    const texts = new Map(looks.map((look, i) => [look, found[i]]));
    const answers = await oneByOne(changes, (change) =>
      change.swap === undefined ? this.#seen(change, texts.get(change)) : this.#swap(change, change.swap),
    );
    return { now: this.#texts.span(), answers };
  }

  async #seen({ name, isWhole, known }: Change, text: string | undefined): Promise<Seen> {
    const main = mainIn(partsIn(text));
    if (isWhole !== true || main === undefined || main === known) return { isDone: false, text };
    const [whole] = await this.long(name, [main], Infinity);
    return { isDone: false, text, main: whole };
  }

  async #swap(change: Change, { before, after, adds, drops, keepForMs }: Swap): Promise<Seen> {
    const { name } = change;
    if (adds !== undefined) await this.#write(name, adds, keepForMs);
    const swapped = await this.#texts.swap(keyOf(name), before, after, keepForMs);
    if (!swapped.isDone) {
      const isNamed = adds !== undefined && idsIn(partsIn(swapped.present)).includes(adds.id); // it was done before
      if (adds !== undefined && !isNamed) await this.#delete(name, [adds.id]);
      return this.#seen(change, swapped.present);
    }
    void this.#delete(name, drops);
    void this.#keep(name, idsIn(partsIn(after)), keepForMs);
    return { isDone: true };
  }

  async #write(name: string, { id, text }: LongText, keepForMs: number): Promise<void> {
    const keptForMs = TIMES_KEPT * keepForMs + MARGIN_MS;
    const keptUntil = Math.min(this.#texts.span().earliest + keptForMs, Number.MAX_SAFE_INTEGER);
    const parts = split(text, this.#texts.longestText - LONGEST_HEAD);
    const put = (i: number): Promise<void> => {
      const head = i === 0 ? `${parts.length} ${Math.floor(keptUntil)}\n` : '';
      return this.#texts.put(partOf(name, id, i), head + parts[i], keptForMs);
    };
    const failed = (await oneByOne([...parts.keys()], put)).find((one) => one instanceof Error);
    if (failed !== undefined) throw failed;
    this.#remember(id, keptUntil);
  }

  /** Behind a swap: writes parts again that would be gone before the text that names them. Never rejects: the next swap tries again. */
  async #keep(name: string, ids: readonly string[], keepForMs: number): Promise<void> {
    const until = Math.min(this.#texts.span().latest + keepForMs, Number.MAX_SAFE_INTEGER);
    const renew = async (id: string): Promise<void> => {
      if ((this.#keptUntil.get(id) ?? -Infinity) >= until) return;
      const [first] = await this.#texts.read([partOf(name, id, 0)]);
      const { keptUntil } = headOf(first);
      this.#remember(id, keptUntil);
      if (keptUntil >= until) return;
      const [text] = await this.long(name, [id], Infinity);
      if (text !== undefined) await this.#write(name, { id, text }, keepForMs);
    };
    await oneByOne(ids, renew).catch(() => {});
  }

  #remember(id: string, keptUntil: number): void {
    this.#keptUntil.delete(id);
    this.#keptUntil.set(id, keptUntil);
    if (this.#keptUntil.size <= MOST_KNOWN) return;
    const [oldest] = this.#keptUntil.keys();
    this.#keptUntil.delete(oldest as string);
  }

  async long(name: string, ids: readonly string[], most: number): Promise<readonly (string | undefined)[]> {
    const firsts = await this.#texts.read(ids.map((id) => partOf(name, id, 0)));
    const rests = ids.flatMap((id, i) => {
      const { count, text } = headOf(firsts[i]);
      return text.length >= most ? [] : otherParts(name, id, count);
    });
    const found = rests.length === 0 ? [] : await this.#texts.read(rests);
    return ids.map((id, i) => {
      if (headOf(firsts[i]).count === 0) return undefined; // not there, or edited by hand
      const others = rests.flatMap((key, at) => (key.sort.startsWith(`part/${id}/`) ? [found[at]] : []));
      return others.includes(undefined) ? undefined : headOf(firsts[i]).text + others.join('');
    });
  }

  /** Never rejects: the parts that stay expire. */
  async #delete(name: string, ids: readonly string[]): Promise<void> {
    const remove = async (id: string): Promise<void> => {
      const { count } = headOf(await this.#texts.take(partOf(name, id, 0)));
      await oneByOne(otherParts(name, id, count), (key) => this.#texts.take(key));
    };
    await oneByOne(ids, remove).catch(() => {});
  }

  async list(prefix: string, limit: number): ReturnType<Cells['list']> {
    const isReport = prefix.startsWith(REPORT);
    const found = isReport
      ? await this.#texts.ofPartition(REPORT, prefix.slice(REPORT.length), limit)
      : await this.#texts.ofPartitions(prefix, ONLY, limit);
    const texts = found.map(({ key, text }) => [isReport ? REPORT + key.sort : key.partition, text] as const);
    return { now: this.#texts.span(), texts };
  }
}

function keyOf(name: string): TextKey {
  return name.startsWith(REPORT)
    ? { partition: REPORT, sort: name.slice(REPORT.length) }
    : { partition: name, sort: ONLY };
}

function partOf(partition: string, id: string, part: number): TextKey {
  return { partition, sort: `part/${id}/${part}` };
}

function otherParts(name: string, id: string, count: number): TextKey[] {
  return Array.from({ length: Math.max(0, count - 1) }, (_, i) => partOf(name, id, i + 1));
}

/** Of a text of a gigabyte, which no engine has, in the shortest parts. */
const MOST_PARTS = 10_000;

/** The line of the first part, and its text. */
function headOf(part: string | undefined): {
  readonly count: number;
  readonly keptUntil: number;
  readonly text: string;
} {
  const [, count, keptUntil, text = ''] = /^(\d{1,5}) (\d+)\n(.*)$/s.exec(part ?? '') ?? [];
  return { count: Math.min(Number(count ?? 0), MOST_PARTS), keptUntil: Number(keptUntil ?? 0), text };
}

/** Texts of at most that many bytes of UTF-8; at least one. No character is split. */
export function split(text: string, most: number): string[] {
  const texts: string[] = [];
  let begin = 0;
  do {
    let end = Math.min(text.length, begin + most);
    for (;;) {
      if (end < text.length && isLowSurrogate(text.charCodeAt(end))) end -= 1;
      const bytes = bytesOf(text.slice(begin, end));
      if (bytes <= most) break;
      end = begin + Math.floor(((end - begin) * most) / bytes);
    }
    texts.push(text.slice(begin, end));
    begin = end;
  } while (begin < text.length);
  return texts;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
