import type { ClockSpan } from '../cas/date-clock.ts';
import type { CasRecords, RecordKey } from '../cas/records.ts';
import { type Decision, SwapLoop } from '../cas/swap-loop.ts';
import { bytesOf } from '../cluster/history.ts';
import { implausibleSnapshot, isPlausibleToken } from '../cluster/plausible.ts';
import {
  BEGINNING_LENGTH,
  type InstanceReport,
  MOST_REPORTS,
  type StoredReport,
  type StoredSnapshot,
  type StoredVersion,
  type WriteAnswer,
} from '../cluster/store-contract.ts';
import { systemClock } from '../time/clock.ts';
import { type Edition, editionsOf, type Head, headIn, nextHead } from './cas-head.ts';
import { firstPart, type Parts, PayloadParts } from './cas-parts.ts';
import type { StoreBackend } from './store-backend.ts';

/** Shorter payloads are in the head itself, so that a read is one command. In bytes of UTF-8. */
const MOST_INLINE = 3000;

/** Parts outlive the heads that name them by this, in milliseconds. */
const MARGIN_MS = 3_600_000;

/**
 * The steps of a store on texts of a backend that computes nothing. A name has one text, its head: versions, ages and sizes,
 * and the payload if that is short. Else the payload is in parts, which are written before the head that names them, and
 * deleted after the last head that does. Ages are never less than they are.
 */
export class CasStore implements StoreBackend {
  readonly #records: CasRecords;
  readonly #loop: SwapLoop;
  readonly #parts: PayloadParts;
  readonly #retentionMs: number;
  readonly #keepVersions: number;

  /** @param keepVersions as the caller gave it: `createStore` checks it. */
  constructor(records: CasRecords, retentionMs: number, keepVersions: number = 1) {
    this.#records = records;
    this.#loop = new SwapLoop(records);
    // A version is the oldest one after `keepVersions` writes, each within the retention of the one before.
    this.#parts = new PayloadParts(records, keepVersions * retentionMs + MARGIN_MS);
    this.#retentionMs = retentionMs;
    this.#keepVersions = keepVersions;
  }

  async read(name: string, newerThan: number = -1, wanted?: number): Promise<StoredSnapshot | undefined> {
    const endAt = systemClock.monotonic() + this.#records.timeoutMs;
    for (let before: string | undefined; ; ) {
      const text = await this.#loop.read(headOf(name));
      const head = headIn(text);
      if (head === 'damaged') return DAMAGED;
      const found =
        head && editionsOf(head).find(({ version }) => wanted === undefined || version === wanted);
      if (found === undefined) return undefined;
      const { version } = found;
      const span = this.#records.span();
      if (!isPlausible(version, span)) return implausibleSnapshot(version);
      if (version <= newerThan) return undefined;
      const payload = await this.#payloadOf(name, found);
      if (payload !== undefined) return { version, age: ageOf(found, span), payload };
      // Deleted by a later write, or by hand.
      if (text === before || systemClock.monotonic() >= endAt) return { ...DAMAGED, version, damage: LOST };
      before = text;
    }
  }

  async #payloadOf(name: string, { text, parts }: Edition): Promise<string | undefined> {
    return parts === undefined ? text : this.#parts.read(partitionOf(name), parts);
  }

  async write(
    name: string,
    payload: string,
    token?: number,
    rejected?: number,
    keepFor: number = Infinity,
  ): Promise<WriteAnswer> {
    const bytes = bytesOf(payload);
    let content: Pick<Edition, 'text' | 'parts'> = { text: payload };
    if (bytes > MOST_INLINE || this.#keepVersions > 1) {
      const present = headIn(await this.#loop.read(headOf(name)));
      const refusing = refusal(present, token, rejected, this.#records.span());
      if (refusing !== undefined) return { kind: 'refused', version: refusing };
      content = { parts: await this.#parts.write(partitionOf(name), payload) };
    }
    let gone: readonly Parts[] = [];
    // The step may be taken again after it was done, and finds its own head then.
    let seen: readonly Parts[] = [];
    const answer = await this.#loop.run(headOf(name), (text, span): Decision<WriteAnswer> => {
      const present = headIn(text);
      const refusing = refusal(present, token, rejected, span);
      if (refusing !== undefined) {
        gone = goneFrom(present, partsOf([content]));
        return { answer: { kind: 'refused', version: refusing } };
      }
      const version = token ?? Math.max(heldBy(present, span) + 1, Math.floor(middle(span) * 1000));
      const edition = { version, writtenAt: span.earliest, bytes, ...content };
      const next = nextHead(present, edition, keepFor === Infinity ? this.#keepVersions : undefined);
      seen = [...seen, ...partsIn(present)];
      gone = goneFrom(next, seen);
      const keepForMs = Math.min(this.#retentionMs, keepFor);
      return { next: { text: JSON.stringify(next), keepForMs }, answer: { kind: 'written', version } };
    });
    void this.#parts.delete(partitionOf(name), gone);
    return answer;
  }

  async delete(name: string): Promise<boolean> {
    const text = await this.#records.take(headOf(name));
    void this.#parts.delete(partitionOf(name), partsIn(headIn(text)));
    return text !== undefined;
  }

  async history(name: string): Promise<StoredVersion[]> {
    const head = headIn(await this.#loop.read(headOf(name)));
    if (head === 'damaged') return [{ ...DAMAGED, beginning: '', bytes: 0 }];
    const editions = head === undefined ? [] : editionsOf(head);
    const inParts = editions.filter(({ parts }) => parts !== undefined);
    const keys = inParts.map(({ parts }) => firstPart(partitionOf(name), parts as Parts));
    const texts = keys.length === 0 ? [] : await this.#records.read(keys);
    const span = this.#records.span();
    return editions.map((edition): StoredVersion => {
      const { version, bytes } = edition;
      if (!isPlausible(version, span)) return { ...implausibleSnapshot(version), beginning: '', bytes };
      const beginning = edition.parts === undefined ? edition.text : texts[inParts.indexOf(edition)];
      const about = { version, age: ageOf(edition, span), bytes };
      if (beginning === undefined) return { ...about, beginning: '', damage: LOST };
      const [line = ''] = beginning.slice(0, BEGINNING_LENGTH).split('\n', 1);
      return { ...about, beginning: line };
    });
  }

  async versions(names: readonly string[], report?: InstanceReport): Promise<number[]> {
    const [texts] = await Promise.all([
      names.length === 0 ? [] : this.#records.read(names.map(headOf)),
      report && this.#report(report),
    ]);
    return texts.map((text) => heldBy(headIn(text), this.#records.span()));
  }

  async #report({ instance, text, keepFor }: InstanceReport): Promise<void> {
    const key = { partition: REPORTS, sort: instance };
    const { earliest, latest } = await this.#loop.span(key);
    const report: Report = { writtenAt: earliest, keptUntil: latest + keepFor, text };
    await this.#records.put(key, JSON.stringify(report), keepFor);
  }

  async reports(beginning: string): Promise<StoredReport[]> {
    const found = await this.#records.ofPartition(REPORTS, beginning, MOST_REPORTS);
    const { earliest, latest } = this.#records.span();
    return found
      .flatMap(({ key, text: stored }) => {
        const report = reportIn(stored);
        if (report === undefined || report.keptUntil <= earliest) return [];
        return [{ instance: key.sort, text: report.text, age: latest - report.writtenAt }];
      })
      .slice(0, MOST_REPORTS);
  }
}

/** A report of an instance, as text. */
interface Report {
  readonly writtenAt: number;
  readonly keptUntil: number;
  readonly text: string;
}

/** @returns `undefined` if the text is not a report: it was edited. */
function reportIn(stored: string): Report | undefined {
  try {
    const { writtenAt, keptUntil, text } = JSON.parse(stored);
    const isReport = [writtenAt, keptUntil].every(Number.isFinite) && typeof text === 'string';
    return isReport ? { writtenAt, keptUntil, text } : undefined;
  } catch {
    return undefined;
  }
}

const REPORTS = 'reports';

const DAMAGED: StoredSnapshot = {
  version: 0,
  age: 0,
  payload: '',
  damage: 'its record is damaged: it is not in the format of this store',
};

const LOST = 'its record is damaged: parts of its payload are missing';

function partitionOf(name: string): string {
  return `snapshot/${name}`;
}

function headOf(name: string): RecordKey {
  return { partition: partitionOf(name), sort: 'head' };
}

function partsOf(editions: readonly Pick<Edition, 'parts'>[]): Parts[] {
  return editions.flatMap(({ parts }) => parts ?? []);
}

function partsIn(head: Head | 'damaged' | undefined): Parts[] {
  return head === undefined || head === 'damaged' ? [] : partsOf(editionsOf(head));
}

/** Those that no edition of a head has. */
function goneFrom(head: Head | 'damaged' | undefined, parts: readonly Parts[]): Parts[] {
  const kept = new Set(partsIn(head).map(({ id }) => id));
  return parts.filter(({ id }) => !kept.has(id));
}

function middle({ earliest, latest }: ClockSpan): number {
  return (earliest + latest) / 2;
}

function isPlausible(version: number, span: ClockSpan): boolean {
  return isPlausibleToken(version, middle(span));
}

function ageOf({ writtenAt }: Edition, { latest }: ClockSpan): number {
  return latest - writtenAt;
}

/** The present version, 0 where there is none or it is damaged. */
function heldBy(head: Head | 'damaged' | undefined, span: ClockSpan): number {
  if (head === undefined || head === 'damaged') return 0;
  return isPlausible(head.version, span) ? head.version : 0;
}

/** The version that refuses a write. */
function refusal(
  head: Head | 'damaged' | undefined,
  token: number | undefined,
  rejected: number | undefined,
  span: ClockSpan,
): number | undefined {
  const held = heldBy(head, span);
  return token !== undefined && token < held && held !== rejected ? held : undefined;
}
