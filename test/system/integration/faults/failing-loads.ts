import type { Heard } from './fleet.ts';
import type { Behaviour } from './messages.ts';
import {
  begin,
  COOL_DOWN,
  type Judge,
  LEASE,
  loadStarted,
  publications,
  quiet,
  READ_EVERY,
  type Stage,
} from './scenario.ts';

const LOAD_FOR = 300;
const LOAD_TIMEOUT = 700;

interface Fault {
  readonly load: Behaviour['load'];
  readonly times: number;
  /** After which anybody may try the round again, counted from the failure. */
  readonly backoff: number;
  /** What a try takes that fails too: the same instance may be the next one. */
  readonly again: number;
}

const FAULTS: readonly Fault[] = [
  { load: 'throws', times: 12, backoff: COOL_DOWN, again: LOAD_FOR },
  { load: 'hangs', times: 4, backoff: COOL_DOWN, again: LOAD_TIMEOUT },
  // Its lease can't be given back while it runs; it expires.
  { load: 'is deaf', times: 4, backoff: LEASE, again: LOAD_TIMEOUT },
];

/** The load of one instance fails; another one tries the same round. */
export async function failingLoads(stage: Stage, judge: Judge): Promise<void> {
  const { fleet } = stage;
  await begin(stage, {
    loadTimeout: LOAD_TIMEOUT,
    // With each further failure in a row it leaves the round to others for longer.
    coolDown: { initial: COOL_DOWN, factor: 2, max: 8 * COOL_DOWN },
    behaviour: { loadFor: [LOAD_FOR, LOAD_FOR], load: 'returns' },
  });
  const failed: number[] = [];
  const found: { fault: Fault; any: number[]; others: number[]; first: number }[] = [];
  for (const fault of FAULTS) {
    const any: number[] = [];
    const others: number[] = [];
    let first = 0;
    for (let i = stage.count(fault.times); i > 0; i--) {
      const { by, token } = await loadStarted(fleet);
      fleet.behave({ load: fault.load }, [by]);
      const ended = fleet.until((told) => told.by === by && isFailure(told), 10_000);
      const next = loadStarted(fleet, (told) => told.token > token);
      const another = loadStarted(fleet, (told) => told.token > token && told.by !== by);
      const published = publications(fleet, 1);
      failed.push(token);
      const failedAt = (await ended).at;
      const { by: nextBy, at } = await next;
      if (nextBy !== by) first += 1;
      any.push(at - failedAt);
      others.push((await another).at - failedAt);
      fleet.behave({ load: 'returns' }, [by]);
      await published;
      await quiet();
    }
    found.push({ fault, any, others, first });
  }
  await fleet.end();

  const { published } = judge.rounds(stage);
  for (const { fault, any, others, first } of found) {
    const { load, backoff, again } = fault;
    judge.tell(`${load}: another is the very next`, `${first} of ${any.length}`);
    judge.spans(`${load}: tried again after`, any, backoff + READ_EVERY);
    const label = `${load}: by another after, longest`;
    // A lease that expires says nothing of who failed: the same one may be the next one again.
    if (load === 'is deaf') judge.tell(label, `${Math.max(...others).toFixed(0)} ms`);
    else judge.within(label, others, 2 * (backoff + READ_EVERY) + again);
  }
  judge.is('results of failed loads', published.filter(({ token }) => failed.includes(token)).length, 0);
}

function isFailure(told: Heard): boolean {
  return told.kind === 'event' && (told.type === 'failed' || told.type === 'timed-out');
}
