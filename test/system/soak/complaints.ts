import { type Check, none } from './verdict.ts';

/** Listens from now on for what nobody should have to hear. @returns what has been heard, as checks. */
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
