import { CommandCounts } from './command-counts.ts';
import { begin, type Judge, PERIOD, publications, quiet, type Stage } from './scenario.ts';

/** Nothing happens: one load in each round, and what it costs a server. */
export async function undisturbed(stage: Stage, judge: Judge): Promise<void> {
  const { fleet, server } = stage;
  const counts = server && (await CommandCounts.open(fleet, server));
  await begin(stage, {}, counts && ((by) => counts.urlOf(by)));
  await counts?.begin();
  await publications(fleet, stage.count(60));
  if (counts === undefined) await quiet();
  else await counts.end();
  await fleet.end();
  await counts?.close();

  const { loads, published, unleased, longestLag } = judge.rounds(stage);
  judge.atMost('extra loads', loads.length + unleased - published.length, 1);
  judge.within('longest until all six have the newest', [longestLag], PERIOD);
  counts?.judge(judge);
}
