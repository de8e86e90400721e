import { type FaultProxy, startProxy } from '../support/proxy.ts';
import type { RealServer } from '../support/servers.ts';
import { stepsIn } from '../support/wire/steps.ts';
import type { Fleet } from './fleet.ts';
import { INSTANCES, type Judge, publications, quiet } from './scenario.ts';

/**
 * How often a winner, and any other instance, may ask the engine in one round. A winner that last saw the name leased asks once more:
 * its first swap does not find that text. The others find it loading, and then its result.
 */
const WINNER = 2;
const OTHER = 2;
/** What locks and stores in SQL do once an hour, after a release: begins with the first one of a process. */
const PURGE =
  /(SELECT DISTINCT|DELETE) (\/\*\+.*?\*\/ )?(((CAST\()?[rv]\.name( AS BINARY\) AS name)?|[rv]) )?FROM/;

/** A setting of Redis, which a process asks for with its first lease. */
const SETTING = /^info memory/i;

/**
 * The next round begins so many milliseconds later than it might: an engine that takes longer to hear of the end of a
 * round is asked once more. That is what a machine does that has other things to do.
 */
const CALM_MS = 20;

/** So many rounds ask no more than they may, of as many as it takes to see them. */
const LEAST_THRIFTY = 3;

/** So many times five more rounds are looked at. */
const MOST_MORE = 40;
/** By the server, in one round. */
const SERVED = WINNER + (INSTANCES - 1) * OTHER;

interface Cost {
  readonly winner: number;
  readonly other: number;
  readonly served: number;
}

/** Counts what each instance asks a server in a round, and what the server says that it was asked. */
export class CommandCounts {
  readonly #fleet: Fleet;
  readonly #server: RealServer;
  readonly #proxies: readonly FaultProxy[];
  /** Of calm rounds; a busy machine may have none. */
  readonly #costs: Cost[] = [];
  readonly #notes: string[] = [];
  #counted: Promise<unknown> = Promise.resolve();
  #stop: () => void = () => {};
  #purges = 0;
  /** The rounds, calm or not, that asked no more than they may. */
  #thrifty = 0;
  #heardBefore = 0;
  #servedBefore = 0;
  #wasCalm = false;

  private constructor(fleet: Fleet, server: RealServer, proxies: readonly FaultProxy[]) {
    this.#fleet = fleet;
    this.#server = server;
    this.#proxies = proxies;
  }

  /** Puts a proxy before the server for each instance. */
  static async open(fleet: Fleet, server: RealServer): Promise<CommandCounts> {
    return new CommandCounts(fleet, server, await Promise.all(fleet.numbers.map(() => startProxy(server))));
  }

  urlOf(by: number): string {
    return this.#proxies[by]?.url as string;
  }

  /** Counts from now on. */
  async begin(): Promise<void> {
    this.#take();
    this.#servedBefore = await this.#server.commandsServed();
    this.#stop = this.#fleet.on((heard) => {
      if (heard.kind !== 'event' || heard.type !== 'published') return;
      this.#counted = Promise.all([this.#counted, this.#count(heard.by)]);
    });
  }

  /** Ends with a round that asks no more than it may: on a busy machine it takes more of them to see one. */
  async end(): Promise<void> {
    await this.#counted;
    for (let more = 0; this.#thrifty < LEAST_THRIFTY && more < MOST_MORE; more++) {
      await publications(this.#fleet, 5);
      await this.#counted;
    }
    this.#stop();
  }

  async close(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
  }

  judge(judge: Judge): void {
    const most = (figure: keyof Cost): number => Math.max(...this.#costs.map((cost) => cost[figure]));
    judge.atLeast(`rounds of ${WINNER}, ${OTHER} and ${SERVED} commands`, this.#thrifty, LEAST_THRIFTY);
    judge.tell(`calm rounds: each answer within ${CALM_MS} ms`, this.#costs.length);
    if (this.#costs.length > 0) {
      judge.atMost('commands of the winner of a calm one', most('winner'), WINNER);
      judge.atMost('commands of another instance in one', most('other'), OTHER);
      judge.atMost('commands in one by the server', most('served'), SERVED);
    }
    judge.notes.push(...this.#notes);
  }

  /** The commands of each since the last time. */
  #take(): string[][] {
    return this.#proxies.map(({ commands }) => {
      const taken = commands.splice(0);
      const kept = taken.filter((text) => !PURGE.test(text) && !SETTING.test(text));
      this.#purges += taken.length - kept.length;
      return kept;
    });
  }

  #isClaim(text: string): boolean {
    return stepsIn(this.#server.kind, text).some(({ step }) => step === 'acquire');
  }

  async #count(winner: number): Promise<void> {
    await quiet();
    this.#purges = 0;
    const commands = this.#take();
    const { heard } = this.#fleet;
    const answers = heard.slice(this.#heardBefore).filter((told) => told.kind === 'step');
    this.#heardBefore = heard.length;
    const servedNow = await this.#server.commandsServed();
    const served = servedNow - this.#servedBefore - this.#purges;
    this.#servedBefore = servedNow;
    const isCalm = !answers.some((told) => told.kind === 'step' && told.took > CALM_MS);
    const isFair = isCalm && this.#wasCalm; // how late a round begins was settled in the one before
    this.#wasCalm = isCalm;
    const counts = commands.map(({ length }) => length);
    const others = counts.filter((_, by) => by !== winner);
    const ofWinner = counts[winner] as number;
    const again = (commands[winner]?.filter((text) => this.#isClaim(text)).length ?? 0) > 1 ? 1 : 0;
    const cost = { winner: ofWinner - again, other: Math.max(...others), served: served - again };
    if (cost.winner <= WINNER && cost.other <= OTHER && cost.served <= SERVED) this.#thrifty += 1;
    if (!isFair) return;
    this.#costs.push(cost);
    for (const by of this.#fleet.numbers) {
      if ((counts[by] as number) <= (by === winner ? WINNER + again : OTHER)) continue;
      const texts = commands[by]?.map((text) => text.replace(/[^ -~]/g, ' ').slice(0, 60)) ?? [];
      this.#notes.push(`instance ${by}, ${by === winner ? 'the winner' : 'another'}: ${texts.join(' | ')}`);
    }
  }
}
