import { readFile } from 'node:fs/promises';
import type { Command } from './kind.ts';

/** Who is to run PostgreSQL and PgBouncer where we are root, which they refuse to be. */
export async function unprivileged(): Promise<Command['as']> {
  if (process.getuid?.() !== 0) return undefined;
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const user = ['postgres', 'nobody'].flatMap((wanted) => users.filter(([name]) => name === wanted))[0];
  if (user === undefined) throw new Error('PostgreSQL does not run as root, and there is no user nobody');
  return { uid: Number(user[2]), gid: Number(user[3]) };
}
