import { LEASE_MS } from './settings.ts';

/** How much of a processor a process gets here, from 0 to 1. */
export interface Machine {
  readonly share: number;
  readonly isBusy: boolean;
  /** How long a lease is to last, in milliseconds: as much longer as a process is slower. */
  readonly leaseMs: number;
}

const MEASURED_MS = 1000;
/** A machine with nothing else to do gives nearly all. */
const BUSY_BELOW = 0.8;
/** A lease lasts no longer than that many of a quiet machine: a run has to end. */
const LONGEST_LEASE = 8;

/** Calculates for a second: the processor time that it gets is its share. */
export function measureMachine(): Machine {
  const before = process.cpuUsage();
  const begunAt = performance.now();
  while (performance.now() - begunAt < MEASURED_MS);
  const { user, system } = process.cpuUsage(before);
  const share = Math.min(1, (user + system) / 1000 / (performance.now() - begunAt));
  const isBusy = share < BUSY_BELOW;
  const factor = isBusy ? Math.min(LONGEST_LEASE, 1 / share) : 1;
  return { share, isBusy, leaseMs: Math.round(LEASE_MS * factor) };
}
