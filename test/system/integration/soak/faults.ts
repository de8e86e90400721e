import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultProxy } from '../support/proxy.ts';
import type { RealServer } from '../support/servers.ts';
import type { Mood, Origin } from './origin.ts';

/** A server, and the network before it. */
export interface Site {
  readonly server: RealServer;
  readonly proxy: FaultProxy;
}

/** Goes wrong for so many milliseconds. Resolves when all is well again. */
interface Fault {
  readonly what: string;
  happen(forMs: number): Promise<void>;
}

const MOODS: readonly Mood[] = ['failing', 'hanging', 'resetting', 'slow'];

export function faultsOf(sites: readonly Site[], origin: Origin): Fault[] {
  const ofOrigin = MOODS.map((mood): Fault => {
    const happen = async (forMs: number): Promise<void> => {
      origin.change(mood);
      await sleep(forMs);
      origin.change('sound');
    };
    return { what: `origin ${mood}`, happen };
  });
  const all = sites.map(faultsOfSite);
  // In turns, so that a short run meets each server and the origin too.
  const longest = Math.max(...all.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => [
    ...all.flatMap((faults) => faults.slice(i, i + 1)),
    ofOrigin[i % ofOrigin.length] as Fault,
  ]).flat();
}

function faultsOfSite({ server, proxy }: Site): Fault[] {
  const network = async (forMs: number, begin: () => void): Promise<void> => {
    begin();
    await sleep(forMs);
    proxy.heal();
  };
  const repeatedly = async (forMs: number): Promise<void> => {
    for (let spent = 0; spent < forMs; spent += 100) {
      proxy.cut();
      await sleep(100);
    }
  };
  const faults: Fault[] = [
    { what: 'cut again and again', happen: repeatedly },
    { what: 'partitioned', happen: (ms) => network(ms, () => proxy.partition()) },
    { what: 'answers lost', happen: (ms) => network(ms, () => void proxy.loseReplies({ times: 40 })) },
    { what: 'slow', happen: (ms) => network(ms, () => proxy.latency(300)) },
    {
      what: 'silent',
      happen: (ms) => network(ms, () => void proxy.loseReplies({ times: 10, then: 'silence' })),
    },
    { what: 'stopped', happen: (ms) => server.freezeFor(ms) },
    {
      what: 'killed',
      async happen(forMs) {
        await server.kill();
        await sleep(forMs);
        await server.restart();
      },
    },
  ];
  return faults.map((fault) => ({ ...fault, what: `${server.label} ${fault.what}` }));
}
