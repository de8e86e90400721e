import { EventEmitter, once } from 'node:events';
import { Stopwatch } from '../stopwatch.ts';
import { count } from '../view.ts';
import { Member, type MemberOptions, type Stopwatches } from './member.ts';
import { News } from './news.ts';
import type { InstanceEvent } from './reports.ts';
import { Rounds } from './rounds.ts';
import { INSTANCES } from './settings.ts';

/** The instances, and what they have told. */
export class Cluster {
  readonly members: readonly Member[];
  readonly rounds: Rounds = new Rounds();
  readonly stopwatches: Stopwatches = { fresh: new Stopwatch(), reloading: new Stopwatch() };
  /** What the instances tell: by the type of the event, with the member that tells it. */
  readonly events: EventEmitter = new EventEmitter();
  /** Settles only by rejecting: when the process of an instance ends by itself. */
  readonly crashed: Promise<never>;
  /** The newest version of each edition, as the news have it. */
  readonly versions: Map<number, number> = new Map();
  /** All that any instance has served. */
  readonly editionsServed: Set<number> = new Set();
  news: News = new News(performance.now(), () => {});
  #takeovers = 0;
  #leasesLost = 0;
  #overruled = 0;
  #failures = 0;
  #refusals = 0;

  constructor(options: Pick<MemberOptions, 'processes' | 'originUrl' | 'databaseUrl' | 'leaseMs'>) {
    let onCrash: (error: Error) => void = () => {};
    this.crashed = new Promise((_, reject) => {
      onCrash = reject;
    });
    this.crashed.catch(() => {});
    const { stopwatches } = this;
    const onEvent = (event: InstanceEvent, member: Member): void => this.#heard(event, member);
    this.members = Array.from(
      { length: INSTANCES },
      (_, index) => new Member(index + 1, { ...options, stopwatches, onEvent, onCrash }),
    );
  }

  /** How often a lease was taken over that its holder had let expire. */
  get takeovers(): number {
    return this.#takeovers;
  }

  /** How often an instance lost its lease while it lived. */
  get leasesLost(): number {
    return this.#leasesLost;
  }

  /** Loads whose edition the guard refused. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Other loads that failed, and snapshots that could not be used. */
  get failures(): number {
    return this.#failures;
  }

  /** Loads whose result a rollback at another instance has overtaken. */
  get overruled(): number {
    return this.#overruled;
  }

  /** Loads that a rollback has aborted: they have no outcome. */
  get aborted(): number {
    const outcomes = this.members.flatMap(({ report }) => report?.loads ?? []);
    return outcomes.reduce(
      (sum, { started, succeeded, kept, failed, timedOut }) =>
        sum + started - succeeded - kept - failed - timedOut,
      0,
    );
  }

  get reads(): number {
    return this.members.reduce((sum, { reads }) => sum + reads, 0);
  }

  /** Waits until each instance serves this edition. Rejects at the signal. */
  async untilAllServe(edition: number, signal: AbortSignal): Promise<void> {
    while (this.members.some((member) => member.edition !== edition)) {
      await once(this.events, 'changed', { signal });
    }
  }

  #heard({ type, token, edition, version, sizes }: InstanceEvent, member: Member): void {
    const { rounds, news } = this;
    const who = `instance ${member.number}`;
    switch (type) {
      case 'acquired':
        rounds.acquired(token ?? 0, member.number);
        break;
      case 'took-over':
        rounds.acquired(token ?? 0, member.number);
        this.#takeovers += 1;
        news.add(`${who} takes over round ${rounds.numberOf(token)}: its lease has expired`);
        break;
      case 'load-started':
        rounds.loading(token);
        break;
      case 'published':
        rounds.published(token);
        if (edition !== undefined && version !== undefined) this.versions.set(edition, version);
        if (rounds.wasLoaded(token)) news.add(`${who} has loaded round ${rounds.numberOf(token)} for all`);
        break;
      case 'lost':
        this.#leasesLost += 1;
        news.add(`${who} has lost its lease`);
        break;
      case 'publish-refused':
        if (rounds.wasLoaded(version))
          news.add(`${who} was late: round ${rounds.numberOf(token)} has been loaded since`);
        else {
          this.#overruled += 1;
          news.add(`${who} has loaded in vain: an edition was put back meanwhile`);
        }
        break;
      case 'refused': {
        const [refused = 0, served = 0] = sizes ?? [];
        this.#refusals += 1;
        news.add(`${who} refuses it: ${count(refused)} codes, ${count(served)} before`);
        break;
      }
      case 'changed':
        if (edition !== undefined) this.editionsServed.add(edition);
        break;
      default:
        this.#failures += 1;
        news.add(`${who}: ${type}`);
    }
    this.events.emit(type, member);
  }
}
