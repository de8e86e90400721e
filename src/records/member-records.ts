import { StoreReports } from '../cluster/store-reports.ts';
import { type JoinedRecords, joined } from './joined-records.ts';
import type { Records, Steps } from './records.ts';
import { reportingRecords, reportsOf } from './store/reporting-records.ts';

/** The records of a backend as its members use them: edits are joined, and carry the reports of this instance. */
export interface MemberRecords {
  readonly steps: Steps;
  readonly reports: StoreReports;
  /** `undefined`: each command takes one edit. */
  readonly joined: JoinedRecords | undefined;
}

/** Of the lock and the store of a backend they are the same object. */
export function memberRecords(records: Records, namespace: string | undefined): MemberRecords {
  const reports = new StoreReports(records);
  const reporting = reportingRecords(records, reports, reportsOf(namespace));
  const ofMembers = joined(reporting);
  return { steps: ofMembers ?? reporting, reports, joined: ofMembers };
}
