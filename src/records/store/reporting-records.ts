import type { InstanceReport } from '../../cluster/store-contract.ts';
import type { StoreReports } from '../../cluster/store-reports.ts';
import { ownOptions } from '../../option-checks.ts';
import { REPORT, SNAPSHOT } from '../names.ts';
import type { Edit, Put, Records, Steps } from '../records.ts';

/** Where a store keeps the reports of a namespace: no namespace has the beginning of another one. */
export function reportsOf(namespace: string | undefined): string {
  return REPORT + (namespace === undefined ? '/' : `${namespace.length}/${namespace}/`);
}

/** Applies edits with a report in the same command. It is lost where it can't be stored, and changes nothing about the edits. */
export async function applyWith(
  records: Steps,
  edits: readonly Edit[],
  report: InstanceReport | undefined,
  beginning: string,
): ReturnType<Records['apply']> {
  if (report === undefined) return records.apply(edits);
  const { instance, text, keepFor: keepMs, serial: token } = ownOptions(report);
  const name = beginning + instance;
  const put: Put = { op: 'put', name, token, over: undefined, text, keepMs, older: 0 };
  const { now, answers } = await records.apply([...edits, put]);
  return { now, answers: answers.slice(0, edits.length) };
}

/**
 * The same records, of which rounds, with their reads and writes of snapshots, carry the reports of this instance: one for each command
 * that is sent. Checks have reports of their own.
 */
export function reportingRecords(
  records: Records,
  reports: StoreReports,
  beginning: string,
): Steps & Pick<Records, 'mostEdits'> {
  return {
    mostEdits: records.mostEdits,
    apply(edits) {
      if (!edits.some(isOfRound)) return records.apply(edits);
      const tokens = edits.map((edit) => (edit.op === 'put' ? edit.token : undefined));
      const isClaim = edits.some(({ op }) => op === 'claim');
      return reports.carry((report) => applyWith(records, edits, report, beginning), tokens, isClaim);
    },
    list: (...asked) => records.list(...asked),
    editions: (...asked) => records.editions(...asked),
    warning: async () => records.warning?.(),
  };
}

function isOfRound(edit: Edit): boolean {
  if (!edit.name.startsWith(SNAPSHOT)) return false;
  return edit.op === 'read' ? edit.isBrief !== true : edit.op === 'amend' || edit.op === 'put';
}
