import { candidates } from '../candidates/index.ts';
import { ticklessCache } from '../candidates/tickless-cache.ts';
import { measureReloadLatencies, type ReloadLatency } from '../reload-latency.ts';
import { measureStampedes, type Stampede } from '../stampede.ts';

/** What is measured in a process of its own. */
export const measures = {
  reloadLatencies: (): Promise<ReloadLatency[]> => measureReloadLatencies(candidates),
  stampedes: (): Promise<Stampede[]> => measureStampedes([...candidates, ticklessCache]),
};
