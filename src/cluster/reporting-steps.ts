import type { ManyStoreSteps, StoreSteps } from './backend-steps.ts';
import type { InstanceReport, WriteAnswer } from './store-contract.ts';
import type { StoreReports } from './store-reports.ts';

/** The same steps of a store, of which reads and writes carry the reports of this instance: one for each command that is sent. */
export function reportingSteps(
  steps: StoreSteps & ManyStoreSteps,
  reports: StoreReports,
): StoreSteps & ManyStoreSteps {
  const { readMany, writeMany } = steps;
  return {
    ...steps,
    read: (name, newerThan, version) =>
      reports.carry((report) =>
        report ? steps.read(name, newerThan, version, report) : steps.read(name, newerThan, version),
      ),
    write: (...asked) => {
      const [name, payload, token, rejected, keepFor] = asked;
      const write = (report: InstanceReport | undefined): Promise<WriteAnswer> =>
        report ? steps.write(name, payload, token, rejected, keepFor, report) : steps.write(...asked);
      return reports.carry(write, token);
    },
    readMany: readMany && ((reads) => reports.carry((report) => readMany(reads, report))),
    writeMany:
      writeMany &&
      ((writes) => reports.carry((report) => writeMany(writes, report), ...writes.map(({ token }) => token))),
  };
}
