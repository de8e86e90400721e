import type { OwnMember } from '../../src/cluster/fleet-report.ts';
import { ExecutionLog } from '../../src/observe/execution-log.ts';
import { systemClock } from '../../src/time/clock.ts';

/** A member as its own instance knows it: fresh, without a problem, and nothing executed yet. */
export function ownMember(given: Partial<OwnMember> = {}): OwnMember {
  return {
    name: 'rates',
    kind: 'value',
    version: 812,
    takingOver: undefined,
    age: 60_000,
    failures: 0,
    error: undefined,
    pinned: undefined,
    refused: undefined,
    executions: new ExecutionLog(Date.now, systemClock),
    ...given,
  };
}
