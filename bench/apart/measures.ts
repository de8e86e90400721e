import { type Allocation, measureAllocation } from '../allocation.ts';
import { candidates } from '../candidates/index.ts';
import { ticklessCache } from '../candidates/tickless-cache.ts';
import { type LoadCost, measureLoadCosts } from '../load-cost.ts';
import { type Judged, measureRaces } from '../races.ts';
import { measureReloadLatencies, type ReloadLatency } from '../reload-latency.ts';
import { measureStampedes, type Stampede } from '../stampede.ts';

/** The measurements that run in a process of their own. */
export const measures = {
  allocations: (): Promise<Allocation[]> => measureAllocation(),
  loadCosts: (): Promise<LoadCost[]> => measureLoadCosts(),
  races: (): Promise<Judged[]> => measureRaces(),
  reloadLatencies: (): Promise<ReloadLatency[]> => measureReloadLatencies(candidates),
  stampedes: (): Promise<Stampede[]> => measureStampedes([...candidates, ticklessCache]),
};
