import Table from 'cli-table3';
import type { LockRecord } from '../../../src/cluster/lock-contract.ts';
import type { OriginReport } from '../reports.ts';
import { count, FACTS, ms, PLAIN, paint, seconds, title } from '../view.ts';
import type { Cluster } from './cluster.ts';
import type { Member } from './member.ts';
import type { Rounds } from './rounds.ts';

/** All that the live view shows. */
export interface Sight {
  readonly cluster: Cluster;
  readonly origin: OriginReport | undefined;
  readonly record: LockRecord | undefined;
  readonly readsPerSecond: number;
  readonly secondsPassed: number;
  readonly seconds: number;
}

/** So many of the news are shown. */
const NEWS = 4;

/** A round that is further away waits for the end of a pin, in milliseconds. */
const LONGEST_WAIT_MS = 60_000;

/** The live view, at most 80 columns wide, and always as high. */
export function view(sight: Sight): string {
  const { cluster, origin, record, readsPerSecond } = sight;
  const { rounds, news } = cluster;
  const facts = new Table({ ...PLAIN, ...FACTS });
  const latest = news.last(NEWS);
  facts.push(
    ['lease', leaseText(record, rounds)],
    ['token', tokenText(record, rounds)],
    ['origin', originText(origin)],
    ['data', dataText(cluster)],
    ['loads', rounds.text],
    ['reads', `${count(readsPerSecond)} per second, ${count(cluster.reads)} so far`],
    ...Array.from({ length: NEWS }, (_, line) => [line === 0 ? 'news' : '', latest[line] ?? '']),
  );
  const members = new Table({
    ...PLAIN,
    head: ['instance', 'now', 'round', 'edition', 'age', 'loads', 'reads', 'max wait'],
    colWidths: [10, 8, 7, 9, 8, 7, 11, 10],
    colAligns: ['right', 'left', 'right', 'right', 'right', 'right', 'right', 'right'],
  });
  members.push(...cluster.members.map((member) => row(member, rounds)));
  return `${title(sight)}\n${facts}\n${members}`;
}

/** The same in one line, where there is no terminal to redraw. */
export function line({ cluster, readsPerSecond, secondsPassed }: Sight): string {
  const { members, rounds } = cluster;
  const editions = members.map(({ edition }) => edition ?? '-').join(' ');
  const oldest = Math.max(
    0,
    ...members.map(({ state, report }) => (state === 'up' ? (report?.age ?? 0) : 0)),
  );
  const pinned = first(members, 'pinned') === undefined ? '' : ' pinned';
  return [
    `${secondsPassed.toFixed(1).padStart(5)} s  editions ${editions}${pinned}, ${seconds(oldest)} old`,
    rounds.shortText,
    `${count(readsPerSecond)} reads/s`,
  ].join('; ');
}

/** What the first instance that has it says. */
function first(members: readonly Member[], what: 'pinned' | 'refused'): string | undefined {
  return members.map(({ report }) => report?.[what]).find((text) => text !== undefined);
}

function dataText({ members }: Cluster): string {
  const [pinned, refused] = [first(members, 'pinned'), first(members, 'refused')];
  if (pinned !== undefined) return paint('yellow', `pinned by ${pinned}`);
  return refused === undefined ? paint('green', 'accepted') : paint('red', `refused: ${refused}`);
}

function leaseText(record: LockRecord | undefined, rounds: Rounds): string {
  if (record === undefined) return '-';
  const { state, token, leaseLeft, holdLeft } = record;
  const holder = `instance ${rounds.holderOf(token) ?? '?'}`;
  if (state === 'running') {
    if (leaseLeft === 0) return paint('red', `expired: ${holder} has not extended it`);
    return paint('yellow', `held by ${holder}, ${seconds(leaseLeft)} left`);
  }
  if (holdLeft === 0) return paint('green', `free: the next round begins with a read`);
  if (holdLeft > LONGEST_WAIT_MS)
    return paint('yellow', `free: pinned by ${holder}, no round before it is unpinned`);
  return paint('green', `free: ${state} by ${holder}, next round in ${seconds(holdLeft)}`);
}

function tokenText(record: LockRecord | undefined, rounds: Rounds): string {
  return record === undefined ? '-' : `${record.token} (round ${rounds.numberOf(record.token) ?? '?'})`;
}

function originText(origin: OriginReport | undefined): string {
  if (origin === undefined) return '-';
  const { phase, requests, mostAtOnce } = origin;
  return `${phase.title}; ${requests} requests, at most ${mostAtOnce} at a time`;
}

function row(member: Member, rounds: Rounds): string[] {
  const { number, state, edition, report, reads, reports } = member;
  const loads = reports.reduce((sum, one) => sum + one.loads.started, 0);
  const longestWait = Math.max(0, ...reports.map(({ waits }) => waits.max));
  const isUp = state === 'up' && report !== undefined;
  const round = isUp ? rounds.numberOf(report.version) : undefined;
  return [
    `${number}`,
    stateText(member),
    `${round ?? '-'}`,
    `${edition ?? '-'}`,
    isUp ? seconds(report.age) : '-',
    `${loads}`,
    count(reads),
    ms(longestWait),
  ];
}

function stateText({ state, report }: Member): string {
  switch (state) {
    case 'killed':
      return paint('red', 'killed');
    case 'starting':
      return paint('yellow', 'starts');
    case 'up':
      return report?.isHolder ? paint('yellow', 'loads') : paint('green', 'serves');
  }
}
