import type { Message } from './reports.ts';

/** Sends the parent a message. */
export function tell<Report, Event>(message: Message<Report, Event>): void {
  if (process.connected) process.send?.(message);
}

/**
 * A child ends when its parent does, however that ended: the channel between them closes. Ctrl-C reaches the whole
 * process group; a child leaves it to its parent to make an end.
 */
export function endWithParent(): void {
  process.on('disconnect', () => process.exit());
  process.on('SIGINT', () => {});
}
