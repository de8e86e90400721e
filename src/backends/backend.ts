import { newOutage } from '../cluster/backend-access.ts';
import type { Backend } from '../engine/backend.ts';
import { optionsArgument, ownOptions } from '../option-checks.ts';
import { type BackendOptions, resolveBackendOptions } from '../records/backend-options.ts';
import { createParts } from '../records/create-parts.ts';
import type { OpenRecords } from '../records/records-kind.ts';

/** Opens records, and checks the options that concern them. */
export type Open<O> = (options: O) => OpenRecords;

/** @throws {TicklessError} `OPTION` when an option breaks a rule. */
export function backendOn<O extends BackendOptions>(open: Open<O>, given: O): Backend {
  optionsArgument('backend', given);
  const options = ownOptions(given ?? ({} as O));
  const { records, ...kind } = open(options);
  const resolved = resolveBackendOptions(options, kind);
  return createParts(records, resolved, { ...kind, outage: newOutage() }); // of both together
}
