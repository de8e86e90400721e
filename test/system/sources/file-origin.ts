import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import type { Origin } from './origin.ts';

export const FILE_FAULTS = ['missing', 'half', 'not UTF-8', 'empty'] as const;

/** The file of an origin as it is now: its content or its fault, with the time of its edition. */
export function writeOrigin(path: string, origin: Origin): void {
  const { fault, content, editedAt } = origin;
  const text = JSON.stringify(content);
  if (fault !== undefined) origin.takeFault();
  if (fault === 'missing') {
    rmSync(path, { force: true });
    return;
  }
  if (fault === 'half') writeFileSync(path, text.slice(0, text.length / 2));
  else if (fault === 'not UTF-8') writeFileSync(path, Buffer.from([0x22, 0xff, 0x22]));
  else writeFileSync(path, fault === 'empty' ? JSON.stringify({ ...content, items: [] }) : text);
  utimesSync(path, editedAt / 1000, editedAt / 1000);
}
