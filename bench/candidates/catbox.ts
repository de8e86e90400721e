import { Client, Policy } from '@hapi/catbox';
import { Engine } from '@hapi/catbox-memory';
import { type Candidate, KEEP_MS } from './candidate.ts';

export const catbox: Candidate = {
  name: 'catbox',
  open(load, periodMs) {
    const client = new Client<number>(Engine);
    const started = client.start();
    const policy = new Policy<number, Record<string, unknown>>(
      {
        expiresIn: KEEP_MS,
        staleIn: periodMs,
        staleTimeout: 1, // its minimum: a due read waits 1 ms for the new value
        generateFunc: load,
        generateTimeout: false,
        dropOnError: false,
        pendingGenerateTimeout: 30_000, // without it each due read starts a load
      },
      client,
      'bench',
    );
    return { read: () => (client.isReady() ? policy.get('key') : started.then(() => policy.get('key'))) };
  },
};
