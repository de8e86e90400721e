/** The names of what operators can do, as `actions` of the options takes them. */
export const ACTION_NAMES = [
  'refresh',
  'invalidate',
  'pause',
  'resume',
  'reschedule',
  'end-cool-down',
  'cancel',
  'release-lock',
  'rollback',
  'pin',
  'unpin',
] as const;

/** One of them. */
export type ActionName = (typeof ACTION_NAMES)[number];
