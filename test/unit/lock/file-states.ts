import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lease } from '../../../src/cluster/lock-contract.ts';
import type { Lock } from '../../../src/lock/create-lock.ts';

// Rounds of a file lock, and the files of its states.

/** Acquires the lock, or throws. */
export async function leaseOf(lock: Lock, name = 'n', leaseFor: number = lock.leaseFor): Promise<Lease> {
  const answer = await lock.acquire({ name, leaseFor });
  if (answer.kind !== 'acquired') throw new Error(`not acquired: ${JSON.stringify(answer)}`);
  return answer.lease;
}

/** Acquires and releases without a hold. */
export async function rounds(lock: Lock, count: number, name = 'n'): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    await lock.release(await leaseOf(lock, name), { as: 'done', holdFor: 0 });
  }
}

/** The numbers of the states of a name, ascending. */
export function states(directory: string, name = 'n'): number[] {
  return readdirSync(join(directory, `lock-${name}`))
    .filter((file) => file.endsWith('.json'))
    .map((file) => Number.parseInt(file, 10))
    .sort((a, b) => a - b);
}

export function pathOf(directory: string, number: number, name = 'n'): string {
  return join(directory, `lock-${name}`, `${number}.json`);
}

export interface State {
  readonly at: number;
  readonly wall: number;
  readonly boot: string;
  readonly record: Record<string, unknown> & Readonly<Record<'token' | 'leaseUntil', number>>;
}

/** Edits the present state of a name by hand: changes fields of the state, or returns the whole text. */
export function edit(directory: string, change: (state: State) => object | string, name = 'n'): void {
  const path = pathOf(directory, states(directory, name).at(-1) ?? 0, name);
  const state = JSON.parse(readFileSync(path, 'utf8'));
  const changed = change(state);
  writeFileSync(path, typeof changed === 'string' ? changed : JSON.stringify({ ...state, ...changed }));
}
