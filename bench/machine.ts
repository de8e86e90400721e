import { cpus } from 'node:os';

/** The machine of the measurement. */
export interface Machine {
  readonly node: string;
  readonly cpu: string;
  readonly cpus: number;
}

export const machine: Machine = {
  node: process.version,
  cpu: cpus()[0]?.model ?? 'unknown',
  cpus: cpus().length,
};
