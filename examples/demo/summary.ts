import Table from 'cli-table3';
import type { Latency, OriginReport, ServiceReport } from './reports.ts';
import { script } from './script.ts';
import type { TrafficSummary } from './traffic.ts';
import { count, loadsText, ms, PLAIN, seconds } from './view.ts';

/** What is known at the end of a run. */
export interface Results {
  readonly traffic: TrafficSummary;
  readonly origin: OriginReport;
  readonly service: ServiceReport;
}

/** The summary that is printed at the end. */
export function summary({ traffic, origin, service }: Results): string {
  const { unwanted, timeouts, broken, lost } = traffic;
  const facts = new Table({ ...PLAIN, colWidths: [20, 57], wordWrap: true });
  facts.push(
    ['reads served', `${count(traffic.reads)} (${count(traffic.readsPerSecond)} per second)`],
    [
      'errors',
      `${errorCount(traffic)} (${unwanted} wrong, ${timeouts} timed out, ${broken} broken, ${lost} lost)`,
    ],
    ['loads', loadsText(service.loads)],
    ['unchanged', 'answered with 304: the value stays, with a new age'],
    [
      'requests at origin',
      `${origin.requests}, retries included: 1 for every ${count(traffic.reads / origin.requests)} reads`,
    ],
    ['longest staleness', `${seconds(service.oldestServed)} (the age of the oldest value served)`],
  );
  const latency = new Table({
    ...PLAIN,
    head: ['latency', 'reads', 'p50', 'p99', 'max'],
    colWidths: [32, 13, 9, 10, 10],
    colAligns: ['left', 'right', 'right', 'right', 'right'],
  });
  latency.push(
    ['client, no load running', ...figures(traffic.fresh)],
    ['client, a load running', ...figures(traffic.reloading)],
    ['service, no load running', ...figures(service.fresh)],
    ['service, a load running', ...figures(service.reloading)],
  );
  return `${facts}\n${latency}`;
}

/** A shorter run has no time for all that the script brings about, on a busy machine. */
const FULL_RUN_SECONDS = 20;

/** What went wrong; empty when the run showed what it is meant to show. */
export function complaints({ traffic, service }: Results, seconds: number): string[] {
  const { loads } = service;
  const always: [boolean, string][] = [
    [traffic.reads > 0, 'no reads were served'],
    [errorCount(traffic) === 0, 'there were errors'],
    [traffic.wentBack === 0, 'an older value was served after a newer one'],
  ];
  const withTime: [boolean, string][] = [
    [loads.succeeded > 1, 'no reload brought new data'],
    [loads.kept > 0, 'no reload was answered with "not modified"'],
    [loads.failed > 0, 'no reload failed'],
    [service.edition === script.at(-1)?.edition, 'the value did not recover: it is not of the last edition'],
    [service.failures === 0, 'the value did not recover: its last reload failed'],
  ];
  const expectations = seconds < FULL_RUN_SECONDS ? always : [...always, ...withTime];
  return expectations.filter(([holds]) => !holds).map(([, complaint]) => complaint);
}

function errorCount({ unwanted, timeouts, broken, lost }: TrafficSummary): number {
  return unwanted + timeouts + broken + lost;
}

function figures({ count: reads, p50, p99, max }: Latency): string[] {
  return [count(reads), ms(p50), ms(p99), ms(max)];
}
