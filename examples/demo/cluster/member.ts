import type { Child } from '../child.ts';
import type { Processes } from '../processes.ts';
import type { Stopwatch } from '../stopwatch.ts';
import { Traffic } from '../traffic.ts';
import type { InstanceEvent, InstanceReport, Order } from './reports.ts';
import { CONNECTIONS } from './settings.ts';

/** Where an instance is in its life. `killed`: and not started again yet. */
export type MemberState = 'starting' | 'up' | 'killed';

/** Latencies as the clients saw them, of all instances together. */
export interface Stopwatches {
  readonly fresh: Stopwatch;
  readonly reloading: Stopwatch;
}

/** What an instance needs to start. */
export interface MemberOptions {
  readonly processes: Processes;
  readonly originUrl: string;
  readonly databaseUrl: string;
  /** How long the leases of its lock last, in milliseconds. */
  readonly leaseMs: number;
  readonly stopwatches: Stopwatches;
  /** Is told what it tells. */
  readonly onEvent: (event: InstanceEvent, member: Member) => void;
  /** Is told when its process ends by itself. */
  readonly onCrash: (error: Error) => void;
}

/** An instance of the cluster with the traffic on it, over all of its lives: as seen by the demo. */
export class Member {
  /** From 1. */
  readonly number: number;
  readonly #options: MemberOptions;
  /** The last reports of its lives that are over. */
  readonly #past: InstanceReport[] = [];
  readonly #traffic: Traffic[] = [];
  #child: Child<InstanceReport, InstanceEvent> | undefined;
  #state: MemberState = 'starting';
  #edition: number | undefined;
  #url = '';
  #cutOff = 0;

  constructor(number: number, options: MemberOptions) {
    this.number = number;
    this.#options = options;
  }

  get url(): string {
    return this.#url;
  }

  get state(): MemberState {
    return this.#state;
  }

  /** The latest report of its present life, or of the last one while it is killed. */
  get report(): InstanceReport | undefined {
    return this.#child === undefined ? this.#past.at(-1) : this.#child.report;
  }

  /** What it serves, known as soon as it changes; `undefined`: nothing. */
  get edition(): number | undefined {
    return this.#edition;
  }

  /** A load of it runs, or a look for what others have loaded. */
  get isBusy(): boolean {
    return this.#child?.report?.running === true || this.#child?.report?.isHolder === true;
  }

  /** The latest reports of all its lives. */
  get reports(): InstanceReport[] {
    return this.#child?.report === undefined ? this.#past : [...this.#past, this.#child.report];
  }

  /** All the traffic that it has had. */
  get traffic(): readonly Traffic[] {
    return this.#traffic;
  }

  get reads(): number {
    return this.#traffic.reduce((sum, traffic) => sum + traffic.reads, 0);
  }

  /** Requests that were under way when it was killed. */
  get cutOff(): number {
    return this.#cutOff;
  }

  /** Starts it, again after {@link kill}. Resolves when it serves. */
  async start(): Promise<void> {
    const { processes, originUrl, databaseUrl, leaseMs, onEvent, onCrash } = this.#options;
    this.#state = 'starting';
    const child = processes.start<InstanceReport, InstanceEvent>(
      'cluster/instance.ts',
      originUrl,
      databaseUrl,
      leaseMs,
    );
    this.#child = child;
    child.onEvent = (event) => {
      this.#edition = event.edition ?? this.#edition;
      onEvent(event, this);
    };
    child.crashed.catch(onCrash);
    this.#url = await child.url();
    this.#state = 'up';
  }

  /** Begins to read from it, until {@link stopTraffic} or {@link kill}. */
  beginTraffic(): void {
    const newest = this.#traffic.at(-1)?.newest ?? 0; // it must not go back over a restart either
    const options = { ...this.#options.stopwatches, seconds: 3600, connections: CONNECTIONS, newest };
    this.#traffic.push(new Traffic(this.#url, options));
  }

  stopTraffic(): void {
    for (const traffic of this.#traffic) traffic.stop();
  }

  /** Has it do something, as its operator. */
  carryOut(order: Order): void {
    this.#child?.send(order);
  }

  /** Kills it with SIGKILL, and takes the traffic away from it. */
  async kill(): Promise<void> {
    const child = this.#child;
    const killed = child?.end();
    this.#cutOff += this.#traffic.at(-1)?.underWay ?? 0;
    this.stopTraffic();
    this.#state = 'killed';
    this.#edition = undefined;
    if (child?.report !== undefined) this.#past.push(child.report);
    this.#child = undefined;
    await killed;
  }
}
