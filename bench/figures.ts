import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Allocation } from './allocation.ts';
import type { Behaviour } from './behaviour.ts';
import type { DueCost } from './due-cost.ts';
import type { FreshReads } from './fresh-read.ts';
import type { GroupCost } from './group-cost.ts';
import type { IdleKeyBytes } from './idle-keys.ts';
import type { IdleValues } from './idle-values.ts';
import type { InstanceCounts } from './instances.ts';
import type { KeyedCounts } from './keyed-counts.ts';
import type { KeyedReads } from './keyed-read.ts';
import type { LoadCost } from './load-cost.ts';
import type { Machine } from './machine.ts';
import type { ReadersCost } from './readers.ts';
import type { ReloadLatency } from './reload-latency.ts';
import type { ReloadStall } from './reload-stall.ts';
import type { Stampede } from './stampede.ts';

/** The output of `npm run bench -- --json FILE`. */
export interface Figures {
  readonly machine: Machine;
  readonly freshReads: FreshReads;
  readonly allocation: readonly Allocation[];
  readonly reloadLatencies: readonly ReloadLatency[];
  readonly loadCosts: readonly LoadCost[];
  readonly stampedes: readonly Stampede[];
  readonly keyedReads: readonly KeyedReads[];
  readonly idleKeys: readonly IdleKeyBytes[];
  /** Measured on Linux only. */
  readonly idleValues?: readonly IdleValues[] | undefined;
  readonly groupCosts: readonly GroupCost[];
  readonly keyedCounts: KeyedCounts;
  readonly reloadStalls: readonly ReloadStall[];
  readonly behaviour: readonly Behaviour[];
}

/** The output of `npm run bench:scale -- --json FILE`. */
export interface ScaleFigures {
  readonly machine: Machine;
  readonly groupCosts: readonly GroupCost[];
  readonly dueCosts: readonly DueCost[];
  readonly keyedReads: readonly KeyedReads[];
  readonly readers: readonly ReadersCost[];
  readonly instances: readonly InstanceCounts[];
}

export function writeFigures(file: string, figures: Figures | ScaleFigures): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`);
}
