import type { RealServer } from '../support/servers.ts';
import type { Engine, Shared } from './clients.ts';
import type { Fleet, Heard } from './fleet.ts';
import type { Behaviour, Settings } from './messages.ts';
import { median, type Rounds, roundsOf } from './rounds.ts';

export const INSTANCES = 6;
/** All in milliseconds. */
export const PERIOD = 1000;
export const LEASE = 2000;
export const STEP_TIMEOUT = 1000;
export const COOL_DOWN = 1000;
export const LOAD: Behaviour['loadFor'] = [50, 150];
export const READ_EVERY = 10;
/** What any machine may add to a span between two processes, and a busy one at most: not a part of any rule. */
const NOISE = 150;
const MOST_NOISE = 1000;

/** Where a scenario runs. */
export interface Stage {
  readonly engine: Engine;
  /** What instances open, unless there is a proxy before it. */
  readonly url: string;
  /** `undefined`: the engine is files of this machine. */
  readonly server: RealServer | undefined;
  /** A lock and a store of the parent, with no proxy before them. */
  readonly shared: Shared;
  readonly fleet: Fleet;
  /** Tokens are the time of one clock; else each instance has its own. */
  readonly isOneClock: boolean;
  /** Of repetitions: fewer of them in a quick run. */
  count(full: number): number;
}

/** Where a scenario runs that does something to the server, or to the way there. */
export interface ServedStage extends Stage {
  readonly server: RealServer;
}

/** One number of a scenario. */
export interface Figure {
  readonly label: string;
  readonly value: string;
  /** What it must be. */
  readonly bound?: string;
  readonly isBroken: boolean;
}

/** Collects the figures of a scenario, and what broke its bounds. */
export class Judge {
  readonly figures: Figure[] = [];
  /** What is to be known of what broke. */
  readonly notes: string[] = [];
  #lateness = 0;

  tell(label: string, value: string | number): void {
    this.figures.push({ label, value: shown(value), isBroken: false });
  }

  #judge(label: string, value: string, bound: string, holds: boolean): void {
    this.figures.push({ label, value, bound, isBroken: !holds });
  }

  atMost(label: string, value: number, most: number): void {
    this.#judge(label, shown(value), `≤ ${shown(most)}`, value <= most);
  }

  atLeast(label: string, value: number, least: number): void {
    this.#judge(label, shown(value), `≥ ${shown(least)}`, value >= least);
  }

  /** A span between two processes: what the machine was late by at most is added to the bound, within reason. */
  within(label: string, spans: readonly number[], most: number): void {
    const noise = Math.min(NOISE + this.#lateness, MOST_NOISE);
    const longest = Math.max(...spans);
    this.#judge(label, `${shown(longest)} ms`, `≤ ${shown(most)} ms + noise`, longest <= most + noise);
  }

  is(label: string, value: number, wanted: number): void {
    this.#judge(label, shown(value), shown(wanted), value === wanted);
  }

  none(label: string, found: readonly string[]): void {
    this.is(label, found.length, 0);
    this.notes.push(...found.slice(0, 5).map((text) => `${label}: ${text}`));
  }

  /** Median and longest of spans. */
  spans(label: string, spans: readonly number[], most: number): void {
    this.tell(`${label}, median`, `${shown(median(spans) ?? Number.NaN)} ms`);
    this.within(`${label}, longest`, spans, most);
  }

  /** What must hold whatever happens, and the figures of all scenarios. Comes first. @param period of the value. @returns what they come from. */
  rounds(stage: Stage, period: number = PERIOD, heard: readonly Heard[] = stage.fleet.heard): Rounds {
    const rounds = roundsOf(heard, stage.fleet.numbers, period, stage.isOneClock);
    const { loads, published, unleased, reading } = rounds;
    this.#lateness = reading.longestLag;
    this.tell('rounds published', published.length);
    this.tell('loads, with and without a lease', `${loads.length} + ${unleased}`);
    this.is('double rounds', rounds.doubles, 0);
    this.none('stale publishes', rounds.stale);
    this.none('versions that went back', rounds.wentBack);
    this.tell('reads', reading.reads);
    this.none('reads that failed', rounds.readErrors);
    this.none('reads that waited', rounds.waits);
    this.tell('longest read', `${reading.longestWait.toFixed(1)} ms`);
    this.tell('oldest value served', `${shown(reading.oldest)} ms`);
    this.tell('latest timer: the noise of the machine', `${shown(reading.longestLag)} ms`);
    return rounds;
  }
}

function shown(value: string | number): string {
  return typeof value === 'number' && !Number.isInteger(value)
    ? value.toFixed(value < 10 ? 1 : 0)
    : `${value}`;
}

let names = 0;

/** Has the instances begin with a name that was never used, and waits for a round. */
export async function begin(
  { fleet, url }: Pick<Stage, 'fleet' | 'url'>,
  settings: Partial<Omit<Settings, 'behaviour'>> & { readonly behaviour?: Partial<Behaviour> } = {},
  urlOf: (by: number) => string = () => url,
): Promise<string> {
  const name = `faults-${process.pid}-${++names}`;
  const settingsOf = (by: number): Settings => ({
    name,
    url: urlOf(by),
    period: PERIOD,
    leaseFor: LEASE,
    stepTimeout: STEP_TIMEOUT,
    coolDown: COOL_DOWN,
    loadTimeout: 10_000,
    whenBackendDown: 'load',
    ...settings,
    behaviour: { loadFor: LOAD, load: 'returns', writeHeldFor: 0, ...settings.behaviour },
  });
  await fleet.begin(fleet.numbers.map(settingsOf));
  await publications(fleet, 1);
  await quiet();
  fleet.heard.length = 0;
  return name;
}

/** Waits for that many rounds. */
export async function publications(fleet: Fleet, count: number, period: number = PERIOD): Promise<Heard> {
  let left = count;
  return fleet.until(
    (heard) => heard.kind === 'event' && heard.type === 'published' && --left === 0,
    count * 3 * period + 10_000,
  );
}

/** After a publication: all have looked for it, and nobody is due yet. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0.6 * PERIOD));
}

/** The next load that begins under a lease. */
export async function loadStarted(
  fleet: Fleet,
  matches: (told: { readonly token: number; readonly by: number }) => boolean = () => true,
  withinMs: number = 10_000,
): Promise<{ readonly token: number; readonly by: number; readonly at: number }> {
  const heard = await fleet.until(
    (told) => told.kind === 'load-started' && told.token > 0 && matches(told),
    withinMs,
  );
  return heard as Extract<Heard, { kind: 'load-started' }>;
}
