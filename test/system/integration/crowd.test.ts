import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readInCrowd } from './support/crowd.ts';
import { ownKinds, startOwn } from './support/own-server.ts';
import type { RealServer } from './support/servers.ts';

// Rule 29: more processes than processors, and a server that answers late. TICKLESS_CROWD=5000 reads that many keys.

const PROCESSES = 6;
const KEYS = Number(process.env.TICKLESS_CROWD ?? 1000);

describe.each(['redis', 'postgres'] as const)('six processes that read all keys at once: %s', (engine) => {
  if (!ownKinds.includes(engine)) return;
  let server: RealServer;
  beforeAll(async () => {
    server = await startOwn(engine);
  }, 60_000);
  afterAll(() => server?.close());

  it('load each key once, and reject no read', async () => {
    const reads = await readInCrowd(PROCESSES, { engine, url: server.url, keys: KEYS });
    const loads = reads.map((read) => read.loads.length);
    const longest = Math.max(...reads.map(({ ms }) => ms));
    console.log(`${engine}: ${KEYS} keys, loads ${loads.join(' + ')}, longest read ${longest.toFixed(0)} ms`);
    expect(reads.flatMap(({ failed }) => failed).join('\n')).toBe('');
    expect(reads.map(({ found }) => found)).toEqual(Array(PROCESSES).fill(KEYS));
    expect(reads.flatMap(({ lines }) => lines).join('\n')).toBe('');
    expect(new Set(reads.flatMap((read) => read.loads)).size).toBe(KEYS);
    expect(loads.reduce((sum, count) => sum + count)).toBe(KEYS);
  }, 180_000);
});
