import { setTimeout as sleep } from 'node:timers/promises';
import { monotonic } from './messages.ts';
import {
  begin,
  type Judge,
  LEASE,
  loadStarted,
  publications,
  quiet,
  READ_EVERY,
  type Stage,
} from './scenario.ts';

/** The holder is killed in mid-load, again and again. */
export async function kills(stage: Stage, judge: Judge): Promise<void> {
  const { fleet } = stage;
  const times = stage.count(20);
  await begin(stage, { behaviour: { loadFor: [600, 600], load: 'returns' } });
  const takeovers: number[] = [];
  const killed: number[] = [];
  for (let i = 0; i < 2 * times && killed.length < times; i++) {
    const { by, token } = await loadStarted(fleet);
    await sleep(250 * Math.random());
    const next = loadStarted(fleet, (told) => told.token > token);
    const published = publications(fleet, 1);
    const killedAt = monotonic();
    const replaced = fleet.replace(by);
    const takenOverAt = (await next).at;
    await published;
    await replaced;
    // On a busy machine it may have been done before the signal came.
    if (fleet.heard.some((told) => told.kind === 'load-ended' && told.token === token)) continue;
    killed.push(token);
    takeovers.push(takenOverAt - killedAt);
  }
  await publications(fleet, 1);
  await quiet();
  await fleet.end();

  const { loads, published } = judge.rounds(stage);
  judge.is('holders killed in mid-load', killed.length, times);
  judge.spans('taken over after', takeovers, LEASE + READ_EVERY);
  const tookOver = fleet.heard.filter((told) => told.kind === 'event' && told.type === 'took-over');
  judge.atLeast('leases that were taken over', tookOver.length, times);
  judge.is('results of killed holders', published.filter(({ token }) => killed.includes(token)).length, 0);
  const done = loads.filter(({ token }) => !killed.includes(token));
  judge.is('loads without a result, of others', done.length - published.length, 0);
}
