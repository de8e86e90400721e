import { table } from '../table.ts';
import type { Count, RoundCosts } from './round-costs.ts';
import type { Stampede } from './stampede.ts';

export function roundCostsTable(costs: readonly RoundCosts[]): string {
  return table(
    [
      'A round: mean (most)',
      'instances',
      'rounds as promised',
      'loads',
      'commands of the winner',
      'of another instance',
      'of all, by the server',
      'for 1,000 fresh reads',
    ],
    costs.map((cost) => [
      cost.engine,
      cost.instances,
      `${cost.asPromised} of ${cost.rounds}`,
      shown(cost.loads),
      shown(cost.winner),
      cost.other === undefined ? '-' : shown(cost.other),
      shown(cost.served),
      cost.commandsPer1000FreshReads,
    ]),
  );
}

export function stampedeTable(workers: number, stampedes: readonly Stampede[]): string {
  return table(
    [
      `${workers} workers`,
      'loads',
      'periods',
      'loads per period',
      'misses',
      'reads that waited',
      'longest wait, ms',
      'oldest value, ms',
      'reads',
      'commands for 1,000 reads',
    ],
    stampedes.map((each) => [
      each.strategy,
      each.loads,
      each.periods.toFixed(1),
      each.loadsPerPeriod.toFixed(2),
      each.misses,
      each.waits,
      each.longestWaitMs.toFixed(1),
      each.oldestMs,
      each.reads.toLocaleString('en'),
      each.commandsPer1000Reads.toFixed(0),
    ]),
  );
}

function shown({ mean, most }: Count): string {
  return `${mean.toFixed(2)} (${most})`;
}
