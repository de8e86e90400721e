// The console in the browser. `tickless/console/node` mounts it on `node:http`.

export type { ActionName } from './action-names.ts';
export { apiSchema } from './api-schema.ts';
export type { AuditRecord } from './audit-record.ts';
export { type ConsoleHandler, consoleHandler } from './console-handler.ts';
export type { Authorized, ConsoleOptions, Operator, ShownAbout } from './console-options.ts';
