import { setTimeout as sleep } from 'node:timers/promises';
import type { LockRecord } from '../../../../src/cluster/lock-contract.ts';
import type { StoredSnapshot } from '../../../../src/cluster/store-contract.ts';
import { startProxy } from '../support/proxy.ts';
import { stepsIn, type WireStep } from '../support/wire/steps.ts';
import {
  begin,
  type Judge,
  LEASE,
  loadStarted,
  publications,
  quiet,
  type ServedStage,
  STEP_TIMEOUT,
} from './scenario.ts';

/**
 * More patient than elsewhere: all answers pass the one process of the proxies, and where that gets no turn for a
 * second, a lock that can't be asked is no lost answer. A lease, and a round, last longer than a write waits in
 * silence, three times the time-out: else the holder of the lost answer does not ask again, or others have published the next one by
 * then, and nobody can tell it that it has published.
 */
const PATIENT = { leaseFor: 3 * LEASE, stepTimeout: 1.5 * STEP_TIMEOUT, period: 3 * LEASE };

const STEPS = ['acquire', 'publish', 'release'] as const;
const WAYS = ['cut', 'silence'] as const;

type Step = (typeof STEPS)[number];

/** The steps of commands that are told apart from others. */
const STEP_OF_COMMAND: Readonly<Record<Step | 'read', WireStep['step']>> = {
  acquire: 'acquire',
  publish: 'write',
  release: 'release',
  read: 'read',
};

/** The engine does what it is asked for, and its answer does not arrive. */
export async function lostReplies(stage: ServedStage, judge: Judge): Promise<void> {
  const { fleet, server, shared } = stage;
  const matching = (step: Step | 'read') => (text: string) =>
    stepsIn(server.kind, text).some((one) => one.step === STEP_OF_COMMAND[step] && memberOf(one) === name);
  const times = stage.count(4);
  const proxies = await Promise.all(fleet.numbers.map(() => startProxy(server)));
  const name = await begin(stage, PATIENT, (by) => proxies[by]?.url as string);
  const wrong: string[] = [];

  /** The holder of that token has an answer to its release, also where it asked twice, or has left it to expire. */
  function isReleased({ token }: { readonly token: number }): Promise<unknown> {
    const answered = fleet.until(
      (told) =>
        told.kind === 'step' &&
        told.step === 'release' &&
        told.token === token &&
        ['done: true', 'done: false'].includes(told.answer),
      3 * PATIENT.leaseFor,
    );
    return Promise.race([answered, sleep(2 * PATIENT.leaseFor)]);
  }

  /**
   * Has each instance lose one answer.
   *
   * @returns whether it was that of the one who made the round; another one may have been asking for the round before.
   */
  async function loseOne(step: Step, then: (typeof WAYS)[number]): Promise<boolean> {
    const found = new Map<number, readonly [LockRecord | undefined, StoredSnapshot | undefined]>();
    for (const by of fleet.numbers) {
      void proxies[by]?.loseReplies({ matching: matching(step), then }).then(async () => {
        const look = [shared.lock.inspect(name), shared.store.read(name)] as const;
        found.set(by, await Promise.all(look).catch(() => [undefined, undefined] as const));
      });
    }
    const [published] = await Promise.all([
      publications(fleet, 1, PATIENT.period),
      loadStarted(fleet).then(isReleased),
    ]);
    for (const proxy of proxies) proxy.heal();
    await quiet();
    const token = published.kind === 'event' ? published.version : undefined;
    const [record, snapshot] = found.get(published.by) ?? [];
    if (record === undefined || (record.token < Number(token) && step === 'acquire')) return false;
    const what = `${step}, ${then}: `;
    if (record.token !== token) wrong.push(`${what}lease ${record.token}, then ${token}`);
    if (step === 'publish' && snapshot?.version !== token) wrong.push(`${what}snapshot ${snapshot?.version}`);
    if (step === 'release' && record.state !== 'done') wrong.push(`${what}state ${record.state}`);
    return true;
  }

  /** The answers of the store to those who look for what another one has loaded. */
  async function loseReads(then: (typeof WAYS)[number]): Promise<number> {
    let lost = 0;
    for (const proxy of proxies) {
      void proxy.loseReplies({ matching: matching('read'), then }).then(() => {
        lost += 1;
      });
    }
    await publications(fleet, 2, PATIENT.period);
    for (const proxy of proxies) proxy.heal();
    await quiet();
    return lost;
  }

  for (const step of STEPS) {
    for (const then of WAYS) {
      let lost = 0;
      for (let left = 6 * times; left > 0 && lost < times; left--) if (await loseOne(step, then)) lost += 1;
      judge.is(`${step}, ${then}: answers lost to the winner`, lost, times);
    }
  }
  for (const then of WAYS) {
    let lost = 0;
    for (let left = times; left > 0; left--) lost += await loseReads(then);
    judge.atLeast(`read, ${then}: answers lost`, lost, times);
  }
  await fleet.end();
  await Promise.all(proxies.map((proxy) => proxy.close()));

  const { loads, published, unleased } = judge.rounds(stage, PATIENT.period);
  judge.none('another lease, or not done, after the retry', wrong);
  judge.is('loads beside one in each round', loads.length + unleased - published.length, 0);
}

/** The name of the value that a record is of. */
function memberOf({ record }: WireStep): string {
  return record.slice(record.indexOf('/') + 1);
}
