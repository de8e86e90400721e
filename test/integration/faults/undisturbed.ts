import { startProxy } from '../support/proxy.ts';
import { begin, INSTANCES, type Judge, PERIOD, publications, quiet, type Stage } from './scenario.ts';

/** How often a winner, and any other instance, may ask the engine in one round. */
const WINNER = 3;
const OTHER = 2;
/** What locks and stores in SQL do once an hour, after a release: begins with the first one of a process. */
const PURGE = /SELECT (name|CAST\(name AS BINARY\) AS name) FROM|DELETE FROM/;

/**
 * The next round begins so many milliseconds later than it might: an engine that takes longer to hear of the end of a
 * round is asked once more. That is what a machine does that has other things to do.
 */
const CALM_MS = 20;

/** So many times five more rounds are looked at for a calm one. */
const MOST_MORE = 12;

/** Nothing happens: one load in each round, and what it costs. */
export async function undisturbed(stage: Stage, judge: Judge): Promise<void> {
  const { fleet, server } = stage;
  const rounds = stage.count(60);
  const proxies = await Promise.all(fleet.numbers.map(() => startProxy(server)));
  await begin(stage, {}, (by) => proxies[by]?.url as string);
  let purges = 0;
  /** The commands of each since the last time. */
  const take = (): string[][] =>
    proxies.map(({ commands }) => {
      const taken = commands.splice(0).map(({ text }) => text);
      const kept = taken.filter((text) => !PURGE.test(text));
      purges += taken.length - kept.length;
      return kept;
    });
  const costs: { readonly winner: number; readonly other: number; readonly served: number }[] = [];
  let counted = Promise.resolve();
  let heardBefore = 0;
  let wasCalm = false;
  let servedBefore = 0;
  const count = async (winner: number): Promise<void> => {
    await quiet();
    purges = 0;
    const commands = take();
    const answers = fleet.heard.slice(heardBefore).filter((told) => told.kind === 'step');
    heardBefore = fleet.heard.length;
    const servedNow = await server.commandsServed();
    const served = servedNow - servedBefore - purges;
    servedBefore = servedNow;
    const isCalm = !answers.some((told) => told.kind === 'step' && told.took > CALM_MS);
    const isFair = isCalm && wasCalm; // how late a round begins was settled in the one before
    wasCalm = isCalm;
    if (!isFair) return;
    const counts = commands.map(({ length }) => length);
    const others = counts.filter((_, by) => by !== winner);
    costs.push({ winner: counts[winner] as number, other: Math.max(...others), served });
    for (const by of fleet.numbers) {
      if ((counts[by] as number) <= (by === winner ? WINNER : OTHER)) continue;
      const texts = commands[by]?.map((text) => text.replace(/[^ -~]/g, ' ').slice(0, 60)) ?? [];
      judge.notes.push(`instance ${by}, ${by === winner ? 'the winner' : 'another'}: ${texts.join(' | ')}`);
    }
  };
  take();
  servedBefore = await server.commandsServed();
  const stop = fleet.on((heard) => {
    if (heard.kind !== 'event' || heard.type !== 'published') return;
    counted = Promise.all([counted, count(heard.by)]).then(() => {});
  });
  await publications(fleet, rounds);
  await counted;
  // On a busy machine it takes more of them to see a calm one.
  for (let more = 0; costs.length === 0 && more < MOST_MORE; more++) {
    await publications(fleet, 5);
    await counted;
  }
  stop();
  await fleet.end();
  await Promise.all(proxies.map((proxy) => proxy.close()));

  const { loads, published, unleased, longestLag } = judge.rounds(stage);
  judge.atMost('extra loads', loads.length + unleased - published.length, 1);
  judge.atMost('longest until all six have the newest', longestLag, PERIOD, ' ms');
  const most = (figure: keyof (typeof costs)[number]): number =>
    Math.max(...costs.map((cost) => cost[figure]));
  judge.atLeast(`calm rounds: each answer within ${CALM_MS} ms`, costs.length, 1);
  judge.atMost('commands of the winner of one, most', most('winner'), WINNER);
  judge.atMost('commands of another instance, most', most('other'), OTHER);
  judge.atMost('commands in one by the server, most', most('served'), WINNER + (INSTANCES - 1) * OTHER);
}
