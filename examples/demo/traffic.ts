import autocannon from 'autocannon';
import zipcodes from 'zipcodes';
import type { Latency, TrafficReport } from './reports.ts';
import { Stopwatch } from './stopwatch.ts';

const UNKNOWN_CODE = 'unknown';
/** One read in so many asks for a code that does not exist, and wants a 404. */
const UNKNOWN_EVERY = 100;

/** What became of the traffic. */
export interface TrafficSummary {
  /** Wanted answers. */
  readonly reads: number;
  readonly readsPerSecond: number;
  /** Answers with another status or another code's data. */
  readonly unwanted: number;
  readonly timeouts: number;
  /** Connections that could not be opened, or broke. */
  readonly broken: number;
  /** Requests that never were answered, beyond those under way at the end. */
  readonly lost: number;
  /** Answers of an older version than one that had come before they were asked for. */
  readonly wentBack: number;
  /** As the clients saw it, no load running at any time of the read. */
  readonly fresh: Latency;
  /** As the clients saw it, a load running at some time of the read. */
  readonly reloading: Latency;
}

/** How the traffic on a service is. */
export interface TrafficOptions {
  /** How long it lasts, unless it is stopped. */
  readonly seconds: number;
  readonly connections: number;
  /** Another one's, to go on counting there. @default its own */
  readonly fresh?: Stopwatch;
  /** Another one's, to go on counting there. @default its own */
  readonly reloading?: Stopwatch;
  /** The newest version that the service has answered with before. @default none */
  readonly newest?: number;
}

/** Reads random postal codes from the service, over and over on each connection, and checks every answer. */
export class Traffic {
  readonly #fresh: Stopwatch;
  readonly #reloading: Stopwatch;
  readonly #recent = new Stopwatch();
  readonly #run: autocannon.Instance;
  readonly #clients: autocannon.Client[] = [];
  readonly #connections: number;
  readonly #startedAt = performance.now();
  #asked = 0;
  #reads = 0;
  #unwanted = 0;
  #broken = 0;
  #wentBack = 0;
  #newest: number;

  constructor(
    serviceUrl: string,
    {
      seconds,
      connections,
      fresh = new Stopwatch(),
      reloading = new Stopwatch(),
      newest = 0,
    }: TrafficOptions,
  ) {
    this.#fresh = fresh;
    this.#reloading = reloading;
    this.#connections = connections;
    this.#newest = newest;
    const codes = Object.keys(zipcodes.codes);
    let turn = 0;
    let sinceReload = 0;
    this.#run = autocannon({
      url: serviceUrl,
      connections,
      duration: seconds,
      timeout: 10,
      setupClient: (client) => this.#clients.push(client),
      requests: [
        {
          setupRequest: (request, context) => {
            turn += 1;
            this.#asked += 1;
            context.newest = this.#newest;
            const isUnknown = turn % UNKNOWN_EVERY === 0;
            context.code = isUnknown ? UNKNOWN_CODE : codes[Math.floor(Math.random() * codes.length)];
            request.path = `/postal-codes/${context.code}`;
            return request;
          },
          // Called before the event `response` of the same answer.
          onResponse: (status, body, { code, newest = 0 }, headers) => {
            sinceReload = Number(headers['x-reloaded-ms-ago']);
            const isWanted = code === UNKNOWN_CODE ? status === 404 : status === 200 && zipOf(body) === code;
            if (isWanted) this.#reads += 1;
            else this.#unwanted += 1;
            const version = Number(headers['x-version']); // 0: it has none
            if (version > 0 && version < newest) this.#wentBack += 1;
            if (version > this.#newest) this.#newest = version;
          },
        },
      ],
    });
    this.#run.on('response', (_client: unknown, _status: number, _bytes: number, ms: number) => {
      // A read that waited behind a load in the event loop is answered when that load has just ended.
      (sinceReload < ms ? this.#reloading : this.#fresh).record(ms);
      this.#recent.record(ms);
    });
    this.#run.on('reqError', () => {
      this.#broken += 1;
    });
  }

  /** Wanted answers so far. */
  get reads(): number {
    return this.#reads;
  }

  /** The newest version that was answered with. */
  get newest(): number {
    return this.#newest;
  }

  /** Requests without an answer so far. */
  get underWay(): number {
    return this.#asked - this.#reads - this.#unwanted - this.#broken;
  }

  /** How it goes; the recent latency starts anew. */
  report(): TrafficReport {
    const recentP99 = this.#recent.read().p99;
    this.#recent.reset();
    return { reads: this.#reads, errors: this.#unwanted + this.#broken, recentP99 };
  }

  /** Waits for the end of the run. */
  async summary(): Promise<TrafficSummary> {
    const { errors, timeouts, requests } = await this.#run;
    return {
      reads: this.#reads,
      readsPerSecond: this.#reads / ((performance.now() - this.#startedAt) / 1000),
      unwanted: this.#unwanted,
      timeouts,
      broken: errors - timeouts,
      lost: Math.max(0, requests.sent - requests.total - this.#connections),
      wentBack: this.#wentBack,
      fresh: this.#fresh.read(),
      reloading: this.#reloading.read(),
    };
  }

  /** Closes all connections now; the summary comes within a second. */
  stop(): void {
    this.#run.stop();
    for (const client of this.#clients) client.destroy();
  }
}

function zipOf(body: string): unknown {
  return (JSON.parse(body) as { zip?: unknown }).zip;
}
