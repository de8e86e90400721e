import { createRequire } from 'node:module';
import type { Kind } from './kind.ts';
import type { RealServer } from './server.ts';
import { startServer } from './server-process.ts';

const require = createRequire(import.meta.url);

/** Starts a dynalite: a server of the API of DynamoDB, in memory. */
export function startDynalite(): Promise<RealServer<'dynalite'>> {
  return startServer(KIND);
}

const KIND: Kind<'dynalite'> = {
  kind: 'dynalite',
  label: 'dynalite',
  version: (require('dynalite/package.json') as { version: string }).version,
  keepsData: false,
  saysReady: /listening at/,
  command: ({ port }) => ({
    file: process.execPath,
    args: [
      require.resolve('dynalite/cli.js'),
      ...['--host', '127.0.0.1', '--port', `${port}`, '--createTableMs', '0'],
    ],
  }),
  url: ({ port }) => `http://127.0.0.1:${port}`,
  count() {
    throw new Error('dynalite counts no commands by clients');
  },
};
