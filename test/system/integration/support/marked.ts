import { setTimeout as sleep } from 'node:timers/promises';
import { Children } from './children.ts';
import type { SignalledKind, SignalledOptions } from './signalled.ts';

export interface MarkedSettings extends SignalledOptions {
  readonly kind: SignalledKind;
  /** Values, and caches. */
  readonly lanes: number;
  /** Of each process, where they have ways of their own to the server. */
  readonly urls?: readonly string[];
}

/** What is done everywhere. */
export const CHANGES = [
  'value: set',
  'value: refresh',
  'value: invalidate',
  'value: drop',
  'value: rollback',
  'key: set',
  'key: refresh',
  'key: invalidate',
  'key: drop',
  'invalidateTag',
  'clear',
] as const;
export type Change = (typeof CHANGES)[number];

export interface ToMarked {
  readonly id: number;
  readonly lane: number;
  readonly change: Change;
}

/** Instants are milliseconds of the machine's monotonic clock. */
export type FromMarked =
  | { readonly kind: 'ready' }
  | ({ readonly kind: 'serves'; readonly what: string } & Served)
  | ({ readonly kind: 'stalled' } & Stall)
  | ({ readonly kind: 'slow' } & Stall)
  | ({ readonly kind: 'done'; readonly id: number } & Done);

/** The process, or a command of it, took that long, since the machine was busy; it ended then. */
interface Stall {
  readonly ms: number;
  readonly at: number;
}

/** `null`: no value. */
interface Served {
  readonly begunAt: number | null;
  readonly version: number | null;
  readonly at: number;
}

/** The backend could not be reached by a process, or was slow; commands that were sent meanwhile are answered at its end. */
export interface Disturbance {
  readonly by: number;
  readonly from: number;
  to: number;
}

interface Done {
  /** What began before is older: the call, or the load whose value a refresh has returned. */
  readonly begunAt: number;
  /** Of a rollback: the version that is new. */
  readonly version: number | undefined;
  readonly at: number;
  readonly error: string | undefined;
}

const PROGRAM = new URL('../fixtures/marked.ts', import.meta.url);
const READY_WITHIN_MS = 60_000;
/** A change that is not everywhere by then counts as lost. */
const LOST_MS = 20_000;

/** Processes that share values and caches; measures how late a change of one of them is at the readers of the others. */
export class MarkedInstances {
  readonly #settings: MarkedSettings;
  readonly #ready: Set<number> = new Set();
  readonly #children: Children<ToMarked, FromMarked> = new Children(PROGRAM, (message, by) =>
    this.#hear(message, by),
  );
  /** By process and what it reads: when it first served nothing of before the instant that is waited for. */
  readonly #served: Map<string, Served>[] = [];
  readonly #stalls: Stall[][] = [];
  readonly #slow: Stall[][] = [];
  readonly #done: Map<number, (done: Done) => void> = new Map();
  /** What has been done to the ways to the server. */
  readonly disturbances: Disturbance[] = [];
  #lastId = 0;
  /** Changes that could not be published at once, on a machine that is too busy; they were made again. */
  rejected = 0;

  private constructor(settings: MarkedSettings) {
    this.#settings = settings;
  }

  static async start(count: number, settings: MarkedSettings): Promise<MarkedInstances> {
    const instances = new MarkedInstances(settings);
    try {
      for (let by = 0; by < count; by++) await instances.#begin(by);
      return instances;
    } catch (error) {
      await instances.close();
      throw error;
    }
  }

  async #begin(by: number): Promise<void> {
    this.#served[by] = new Map();
    this.#stalls[by] = [];
    this.#slow[by] = [];
    this.#children.start(by, { ...this.#settings, url: this.#settings.urls?.[by] ?? this.#settings.url });
    await this.#children.until(
      () => this.#ready.has(by),
      () => `process ${by} begins`,
      READY_WITHIN_MS,
    );
  }

  #hear(message: FromMarked, by: number): void {
    if (message.kind === 'ready') this.#ready.add(by);
    else if (message.kind === 'stalled') this.#stalls[by]?.push(message);
    else if (message.kind === 'slow') this.#slow[by]?.push(message);
    else if (message.kind === 'done') this.#done.get(message.id)?.(message);
    else this.#served[by]?.set(message.what, message);
  }

  /**
   * Has one make a change. Resolves with how long after `propagateWithin` the last reader was served something older, in
   * milliseconds, counted from when the call has resolved, or from the end of a disturbance that has come before the reader was
   * served the new value; below 0: it was sooner. The time in which the process of a reader stood still, and so did not read,
   * does not count, nor one command of it, where that is slow: the slowest of that time.
   */
  async lateness(lane: number, change: Change, by: number): Promise<number> {
    const id = ++this.#lastId;
    const done = new Promise<Done>((resolve) => this.#done.set(id, resolve));
    this.#children.send(by, { id, lane, change });
    const { begunAt, version, at, error } = await done;
    this.#done.delete(id);
    if (error !== undefined) {
      this.rejected += 1; // it promises nothing
      return this.lateness(lane, change, by);
    }
    const what = `${change.startsWith('value') ? 'v' : 'c'}${lane}`;
    const isNew = (served: Served | undefined): boolean => {
      if (version !== undefined) return (served?.version ?? 0) >= version;
      return (served?.begunAt ?? (served === undefined ? 0 : Infinity)) >= begunAt;
    };
    const newAt = this.#served.map(() => 0);
    const everywhere = (): boolean => {
      for (const [index, all] of this.#served.entries()) {
        const served = all.get(what);
        if (!isNew(served))
          newAt[index] = 0; // it may have gone back
        else newAt[index] ||= served?.at ?? 0;
      }
      return newAt.every((instant) => instant > 0);
    };
    const wanted = (): string => {
      const all = this.#served.map((served) => JSON.stringify(served.get(what)));
      return `${change} of lane ${lane} by ${by}, new from ${begunAt}, version ${version}, is everywhere: ${all}`;
    };
    await this.#children.until(everywhere, wanted, LOST_MS);
    const took = newAt.map((instant, index) => {
      const since = Math.max(at, this.#disturbedBefore(index, instant));
      return instant - since - this.#stalledBetween(index, since, instant);
    });
    return Math.max(...took) - this.#settings.propagateWithin;
  }

  /** When the last disturbance was over that had begun by then. */
  #disturbedBefore(index: number, instant: number): number {
    const ends = this.disturbances.filter(({ by, from }) => by === index && from <= instant);
    return Math.max(0, ...ends.map(({ to }) => to));
  }

  /** For how long the process of a reader stood still between two instants; and one command of it, the slowest. */
  #stalledBetween(index: number, from: number, to: number): number {
    const stalledIn = (since: number, until: number): number =>
      (this.#stalls[index] ?? []).reduce(
        (sum, { ms, at }) => sum + Math.max(0, Math.min(at, until) - Math.max(at - ms, since)),
        0,
      );
    // Of a command only what the process itself was not the cause of: that is counted by then.
    const slow = (this.#slow[index] ?? []).map(({ ms, at }) => {
      const [since, until] = [Math.max(at - ms, from), Math.min(at, to)];
      return until - since - stalledIn(since, until);
    });
    return stalledIn(from, to) + Math.max(0, ...slow);
  }

  /** Makes so many changes of each kind, in all lanes at a time. @returns how late each was, the latest last. */
  async measure(changes: readonly Change[], ofEach: number): Promise<Map<Change, number[]>> {
    const left = changes.flatMap((change) => Array<Change>(ofEach).fill(change));
    const late = new Map(changes.map((change) => [change, [] as number[]]));
    const lanes = Array.from({ length: this.#settings.lanes }, async (_, lane) => {
      for (;;) {
        const [change] = left.splice(Math.floor(Math.random() * left.length), 1);
        if (change === undefined) return;
        const by = Math.floor(Math.random() * this.#served.length);
        if (change === 'invalidateTag') await this.lateness(lane, 'key: refresh', by); // what was set has no tags
        if (change === 'value: rollback')
          for (let left = 2; left > 0; left--) await this.lateness(lane, 'value: set', by);
        late.get(change)?.push(await this.lateness(lane, change, by));
        if (change === 'value: rollback') await this.lateness(lane, 'value: set', by); // the pin is over
        await sleep(Math.random() * this.#settings.propagateWithin); // at any time between two checks
      }
    });
    await Promise.all(lanes);
    for (const times of late.values()) times.sort((a, b) => a - b);
    return late;
  }

  close(): Promise<void> {
    return this.#children.close();
  }
}
