import type { VersionControl } from '../data/version-control.ts';
import type { Entry } from '../engine/entry.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import { OptionChecks } from '../option-checks.ts';

/** The versions of an entry in its store. @throws {TicklessError} `OPTION` without one. */
export function versionsOf<T>(engine: MemberEngine<T>, entry: Entry<T>): VersionControl<T> {
  const versions = engine.versions(entry);
  const checks = new OptionChecks(engine.options.name, entry.key);
  checks.that(versions !== undefined, 'backend', 'must be given, to have versions', undefined);
  checks.done();
  return versions as VersionControl<T>;
}
