import { type Check, none } from './verdict.ts';

/** Listens for unhandled rejections and warnings from now on. @returns them as checks. */
export function listenForComplaints(): () => Check[] {
  const unhandled: unknown[] = [];
  const warnings: unknown[] = [];
  process.on('unhandledRejection', (reason) => {
    unhandled.push(reason);
  });
  process.on('warning', (warning) => {
    warnings.push(warning);
  });
  return () => [none('unhandled rejections', unhandled), none('warnings of Node', warnings)];
}
